#include "measure/advise/device/cost_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace farvec::measure {
namespace {

constexpr double kNsPerSecond = 1e9;

/// Returns the queries a second when each takes `ns`.
double rate(double ns) {
  return ns > 0 ? kNsPerSecond / ns : std::numeric_limits<double>::infinity();
}

/// What the reads of one query cost the device.
struct LinkTime {
  double transfer_ns = 0;
  double request_ns = 0;
  double occupied_ns = 0;
};

LinkTime link_time(const QueryWork& work, const AdviceDevice& device) {
  const double request_ns = 1e3 / device.model.requests_per_us;
  LinkTime time;
  double short_reads = 0;
  double long_reads = 0;
  for (const ReadKind& kind : work.kinds) {
    if (kind.reads == 0) continue;
    const double bytes = kind.mean_bytes();
    time.transfer_ns += kind.reads * device.model.transfer_ns(bytes);
    time.request_ns += kind.reads * request_ns;
    time.occupied_ns += kind.reads * device.occupied_ns(bytes, work.reads_per_wait());
    short_reads += bytes <= transport::kMostShortBytes ? kind.reads : 0;
    long_reads += bytes >= transport::kLeastLongBytes ? kind.reads : 0;
  }
  time.occupied_ns += device.model.interruptions_ns(short_reads, long_reads);
  return time;
}

/// Returns the number of searches that together keep a measured disk's depth of reads in flight.
double slots_for_depth(const QueryWork& work, const AdviceDevice& device) {
  const double each = work.reads_per_wait();
  return device.is_measured() && each > 0 ? device.depth / each : 0;
}

/// Returns the number of searches in flight that hide the waits behind computation. Where a
/// measured disk binds, it is the number that keeps the disk's depth of reads in flight, for more
/// of them only wait longer.
std::uint32_t slots_for(const QueryWork& work, const AdviceDevice& device, double wait_ns,
                        bool computation_binds) {
  double wanted = slots_for_depth(work, device);
  if (computation_binds || !device.is_measured()) {
    wanted = std::max(wanted, 2 * (1 + wait_ns / std::max(work.compute_ns, 1.0)));
  }
  const double limited = std::min(std::ceil(wanted), static_cast<double>(kMostSlots));
  return std::min(std::max(std::bit_ceil(static_cast<std::uint32_t>(limited)), kLeastSlots),
                  std::bit_floor(std::max(work.most_slots, 1u)));
}

/// Returns how long one search waits that has core and device for itself.
double wait_ns(const QueryWork& work, const AdviceDevice& device) {
  return work.waits * device.model.latency_us * 1e3 + link_time(work, device).occupied_ns;
}

double device_rate(const QueryWork& work, const AdviceDevice& device, std::uint32_t slots) {
  return rate(link_time(work, device).occupied_ns) *
         device.rate_share(slots * work.reads_per_wait());
}

/// Returns the queries a second with `slots` slots on each core.
double whole_rate(const QueryWork& work, const AdviceDevice& device, std::uint32_t threads,
                  std::uint32_t slots) {
  return std::min({threads * rate(work.compute_ns), device_rate(work, device, slots),
                   threads * slots * rate(work.compute_ns + wait_ns(work, device))});
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

Prediction predict(const QueryWork& work, const AdviceDevice& whole, std::uint32_t threads) {
  AdviceDevice device = whole;
  device.model = whole.model.part_of(threads);
  const LinkTime link = link_time(work, device);
  Prediction result;
  result.computation_qps = threads * rate(work.compute_ns);
  result.bandwidth_qps = rate(link.transfer_ns);
  result.request_rate_qps = rate(link.request_ns);
  const double waited_ns = wait_ns(work, device);
  result.slots =
      slots_for(work, device, waited_ns, result.computation_qps < rate(link.occupied_ns));
  result.device_qps = device_rate(work, device, result.slots);
  result.alone_us = (work.compute_ns + waited_ns) / 1e3;
  result.qps = whole_rate(work, device, threads, result.slots);
  result.qps_least = whole_rate(work, device.at(Pace::slowest), threads, result.slots);
  result.qps_most = whole_rate(work, device.at(Pace::fastest), threads, result.slots);
  if (result.qps < std::min(result.computation_qps, result.device_qps)) {
    result.bound = Bound::latency;
  } else if (result.device_qps < result.computation_qps) {
    result.bound = link.transfer_ns >= link.request_ns ? Bound::bandwidth : Bound::request_rate;
  }
  return result;
}

}  // namespace farvec::measure
