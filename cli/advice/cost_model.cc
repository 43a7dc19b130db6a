#include "cli/advice/cost_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace farvec::cli {
namespace {

constexpr double kNsPerSecond = 1e9;

double transfer_ns(double bytes, const transport::DeviceModel& device) {
  const double block = device.block_bytes;
  return std::ceil(bytes / block) * block / device.bandwidth_gbps;
}

/// Queries a second when each takes so long.
double rate(double ns) {
  return ns > 0 ? kNsPerSecond / ns : std::numeric_limits<double>::infinity();
}

/// Of one query.
struct LinkTime {
  double transfer_ns = 0;
  double request_ns = 0;
  double occupied_ns = 0;
};

LinkTime link_time(const QueryWork& work, const transport::DeviceModel& device) {
  const double request_ns = 1e3 / device.requests_per_us;
  LinkTime time;
  for (const ReadKind& kind : work.kinds) {
    const double each_ns = transfer_ns(kind.mean_bytes(), device);
    time.transfer_ns += kind.reads * each_ns;
    time.request_ns += kind.reads * request_ns;
    time.occupied_ns += kind.reads * std::max(each_ns, request_ns);
  }
  return time;
}

std::uint32_t slots_to_hide(double wait_ns, double compute_ns) {
  const double wanted = 2 * (1 + wait_ns / std::max(compute_ns, 1.0));
  const double limited = std::min(std::ceil(wanted), static_cast<double>(kMostSlots));
  return std::max(std::bit_ceil(static_cast<std::uint32_t>(limited)), kLeastSlots);
}

}  // namespace

double QueryWork::reads() const {
  double sum = 0;
  for (const ReadKind& kind : kinds) sum += kind.reads;
  return sum;
}

double QueryWork::bytes() const {
  double sum = 0;
  for (const ReadKind& kind : kinds) sum += kind.bytes;
  return sum;
}

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::computation:
      return "computation";
    case Bound::bandwidth:
      return "bandwidth";
    case Bound::request_rate:
      return "request rate";
    case Bound::latency:
      return "latency";
  }
  return "unknown";
}

Prediction predict(const QueryWork& work, const transport::DeviceModel& device,
                   std::uint32_t threads) {
  const LinkTime link = link_time(work, device);
  const double wait_ns = work.waits * device.latency_us * 1e3 + link.occupied_ns;
  Prediction result;
  result.computation_qps = threads * rate(work.compute_ns);
  result.bandwidth_qps = rate(link.transfer_ns);
  result.request_rate_qps = rate(link.request_ns);
  result.device_qps = rate(link.occupied_ns);
  result.slots = slots_to_hide(wait_ns, work.compute_ns);
  result.alone_us = (work.compute_ns + wait_ns) / 1e3;
  const double latency_qps = threads * result.slots * rate(work.compute_ns + wait_ns);
  result.qps = std::min({result.computation_qps, result.device_qps, latency_qps});
  if (result.qps < std::min(result.computation_qps, result.device_qps)) {
    result.bound = Bound::latency;
  } else if (result.device_qps < result.computation_qps) {
    result.bound = link.transfer_ns >= link.request_ns ? Bound::bandwidth : Bound::request_rate;
  }
  return result;
}

}  // namespace farvec::cli
