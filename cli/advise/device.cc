#include "cli/advise/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "transport/emulated/device_model.h"

namespace farvec::cli {
namespace {

constexpr std::array<std::uint32_t, 4> kPayloads = {512, 4096, 16384, 65536};
constexpr std::array<std::uint32_t, 5> kDepths = {1, 8, 32, 64, 128};
constexpr double kSeconds = 0.15;
/// A share of the best rate. A rate this close to the best means that enough reads are in flight.
constexpr double kNearly = 0.95;

/// What a read of `bytes` costs: a straight line between the sizes that were measured. Below the
/// smallest it costs as much as the smallest, above the largest it grows in proportion.
double at_size(const std::vector<ReadCost>& costs, double bytes, double ReadCost::*member) {
  const auto above = std::find_if(costs.begin(), costs.end(),
                                  [&](const ReadCost& cost) { return cost.bytes >= bytes; });
  if (above == costs.begin()) return costs.front().*member;
  if (above == costs.end()) return costs.back().*member * bytes / costs.back().bytes;
  const ReadCost& below = *(above - 1);
  const double share = (bytes - below.bytes) / (above->bytes - below.bytes);
  return below.*member + share * ((*above).*member - below.*member);
}

/// All of whose blocks a read of `bytes` anywhere touches, on average.
double touched_bytes(double bytes, double block) {
  return bytes + block - 1;
}

struct DiskPass {
  double reads_per_us = 0;
  double mean_us = 0;
  double kernel_ns = 0;
};

class DiskMeasurement {
 public:
  DiskMeasurement(const DiskTarget& target, std::uint32_t threads)
      : path_(target.path),
        threads_(std::clamp(threads, 1u, std::max(std::thread::hardware_concurrency(), 1u))),
        load_(target) {
    for (const std::uint32_t bytes : payloads()) {
      for (const std::uint32_t depth : kDepths) points_.push_back(point(bytes, depth));
    }
    load_.prepare(points_);
  }

  AdviceDevice run() {
    const std::uint32_t smallest = payloads().front();
    AdviceDevice device;
    device.model.name = "ssd:" + path_;
    device.model.block_bytes = load_.file().block_bytes();
    device.model.latency_us = pass(point(smallest, 1)).mean_us;
    find_depth(smallest, device);
    for (const std::uint32_t bytes : payloads()) {
      const DiskPass best = pass(point(bytes, device.depth));
      const ReadCost before = device.measured.empty() ? ReadCost{} : device.measured.back();
      // A larger read is never cheaper, whatever one short pass says.
      device.measured.push_back({double(bytes),
                                 std::max(1e3 / best.reads_per_us, before.occupied_ns),
                                 std::max(best.kernel_ns, before.kernel_ns)});
    }
    device.model.requests_per_us = 1e3 / device.measured.front().occupied_ns;
    device.model.bandwidth_gbps = device.measured.back().bytes / device.measured.back().occupied_ns;
    return device;
  }

 private:
  /// Whole blocks, so that nothing is copied.
  std::vector<std::uint32_t> payloads() const {
    std::vector<std::uint32_t> sizes{load_.file().block_bytes()};
    for (const std::uint32_t bytes : kPayloads) {
      if (bytes > sizes.back() && bytes <= load_.file().size()) sizes.push_back(bytes);
    }
    return sizes;
  }

  BenchPoint point(std::uint32_t bytes, std::uint32_t depth) const {
    BenchPoint point;
    point.threads = threads_;
    point.payload_bytes = bytes;
    point.inflight = depth;
    return point;
  }

  DiskPass pass(const BenchPoint& point) {
    const DiskLoadResult result = load_.run(point, kSeconds, ++seed_);
    BenchSamples samples;
    add_pass(samples, result.threads);
    return {samples.reads_per_s.front() / 1e6, samples.mean_us.front(), result.kernel_ns_per_read};
  }

  /// The fewest reads in flight with nearly the best rate, and what fewer bring.
  void find_depth(std::uint32_t bytes, AdviceDevice& device) {
    double best = 0;
    for (const std::uint32_t depth : kDepths) {
      const double rate = pass(point(bytes, depth)).reads_per_us;
      device.shallow.push_back({double(depth), rate});
      best = std::max(best, rate);
    }
    for (DepthShare& entry : device.shallow) entry.share /= best;
    const auto enough = std::find_if(device.shallow.begin(), device.shallow.end(),
                                     [](const DepthShare& e) { return e.share >= kNearly; });
    device.depth = static_cast<std::uint32_t>(enough->depth);
    device.shallow.erase(enough, device.shallow.end());
  }

  const std::string path_;
  const std::uint32_t threads_;
  DiskLoad load_;
  std::vector<BenchPoint> points_;
  std::uint64_t seed_ = 0;
};

}  // namespace

double AdviceDevice::occupied_ns(double bytes) const {
  const double block = model.block_bytes;
  if (is_measured()) {
    return at_size(measured, touched_bytes(bytes, block), &ReadCost::occupied_ns);
  }
  const double transfer_ns = std::ceil(bytes / block) * block / model.bandwidth_gbps;
  return std::max(transfer_ns, 1e3 / model.requests_per_us);
}

double AdviceDevice::rate_share(double in_flight) const {
  if (!is_measured() || in_flight >= depth) return 1;
  DepthShare below{0, 0};
  for (const DepthShare& entry : shallow) {
    if (entry.depth > in_flight) {
      return below.share +
             (entry.share - below.share) * (in_flight - below.depth) / (entry.depth - below.depth);
    }
    below = entry;
  }
  return below.share + (1 - below.share) * (in_flight - below.depth) / (depth - below.depth);
}

double AdviceDevice::kernel_ns(double bytes) const {
  if (!is_measured()) return 0;
  return at_size(measured, touched_bytes(bytes, model.block_bytes), &ReadCost::kernel_ns);
}

std::string to_string(const AdviceDevice& device) {
  return fmt::format("{} ({})", transport::to_string(device.model),
                     device.is_measured() ? "measured here" : "a model");
}

AdviceDevice measure_disk(const DiskTarget& target, std::uint32_t threads) {
  return DiskMeasurement(target, threads).run();
}

}  // namespace farvec::cli
