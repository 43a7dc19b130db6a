#include "measure/advise/device/measured_disk.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "measure/advise/device/cost_model.h"
#include "measure/report/statistics.h"
#include "search/disk/disk_records.h"

namespace farvec::measure {
namespace {

constexpr std::array<std::uint32_t, 3> kSizes = {4096, 16384, 65536};
constexpr std::array<std::uint32_t, 5> kDepths = {1, 8, 32, 64, 128};
constexpr std::array<std::uint32_t, 2> kTogether = {16, 64};
/// Passes of each size in each way that one measure() does.
constexpr std::uint32_t kRoundsOfCall = 2;
constexpr double kPasses =
    1 + kDepths.size() +
    MeasuredDisk::kCalls * kRoundsOfCall * (1 + kSizes.size()) * (1 + kTogether.size());
/// A share of the best rate. A rate this close to the best means that enough reads are in flight.
constexpr double kNearly = 0.95;

/// Measures a copy from where reads of clusters arrive, which the cache does not hold, to the lane
/// of a search.
double copy_ns_per_byte() {
  constexpr std::size_t kArrivals = std::size_t{64} << 20;
  constexpr std::size_t kLane = std::size_t{8} << 20;
  constexpr std::size_t kRead = std::size_t{16} << 10;
  constexpr int kTimes = 3;
  HugeBuffer arrivals(kArrivals);
  HugeBuffer lane(kLane);
  std::memset(arrivals.data(), 1, kArrivals);
  std::memset(lane.data(), 1, kLane);
  std::vector<double> times;
  for (int i = 0; i < kTimes; ++i) {
    const Ticks begin = now_ticks();
    for (std::size_t at = 0; at < kArrivals; at += kRead) {
      std::memcpy(lane.data() + at % kLane, arrivals.data() + at, kRead);
    }
    times.push_back(1e3 * ticks_to_us(now_ticks() - begin) / kArrivals);
  }
  return median(times);
}

}  // namespace

std::vector<ReadCost> read_costs(std::span<const DiskSeries> series) {
  std::vector<ReadCost> costs;
  for (const DiskSeries& size : series) {
    FARVEC_CHECK(!size.occupied_ns.empty());
    const ReadCost before = costs.empty() ? ReadCost{} : costs.back();
    const double middle = median(size.occupied_ns);
    const auto [least, most] =
        std::minmax_element(size.occupied_ns.begin(), size.occupied_ns.end());
    costs.push_back({size.bytes, std::max(middle, before.occupied_ns),
                     std::max(median(size.kernel_ns), before.kernel_ns), *least / middle,
                     *most / middle});
  }
  return costs;
}

MeasuredDisk::MeasuredDisk(const DiskTarget& target, std::uint32_t threads, double seconds)
    : path_(target.path),
      threads_(std::clamp(threads, 1u, std::max(std::thread::hardware_concurrency(), 1u))),
      pass_seconds_(seconds / kPasses),
      load_(target) {
  std::vector<BenchPoint> points;
  for (const std::uint32_t bytes : sizes()) {
    for (const std::uint32_t depth : kDepths) points.push_back(alone(bytes, depth));
  }
  for (const std::uint32_t reads : kTogether) {
    Way& way = ways_.emplace_back(Way{reads, {}});
    for (const std::uint32_t bytes : sizes()) {
      // A read that begins anywhere touches one block more.
      const bool fits = bytes + load_.file().block_bytes() <= load_.file().size();
      if (fits) way.sizes.push_back(together(bytes, reads));
    }
    if (way.sizes.empty()) ways_.pop_back();
  }
  for (const Way& way : ways_) {
    for (const DiskSeries& size : way.sizes) points.push_back(size.point);
  }
  load_.prepare(points);
  device_.model.name = "ssd:" + path_;
  device_.model.block_bytes = load_.file().block_bytes();
  device_.model.latency_us = pass(alone(sizes().front(), 1)).mean_us;
  device_.copy_ns_per_byte = copy_ns_per_byte();
  device_.file = load_.shared_file();
  find_depth();
  Way steady;
  for (const std::uint32_t bytes : sizes()) {
    steady.sizes.push_back({alone(bytes, device_.depth), double(bytes), {}, {}});
  }
  ways_.insert(ways_.begin(), steady);
}

/// Returns sizes of whole blocks: the smallest read, and those of kSizes that the file has.
std::vector<std::uint32_t> MeasuredDisk::sizes() const {
  std::vector<std::uint32_t> sizes{load_.file().block_bytes()};
  for (const std::uint32_t bytes : kSizes) {
    if (bytes > sizes.back() && bytes <= load_.file().size()) sizes.push_back(bytes);
  }
  return sizes;
}

/// Returns a load of whole blocks, so that nothing is copied.
BenchPoint MeasuredDisk::alone(std::uint32_t bytes, std::uint32_t depth) const {
  BenchPoint point;
  point.threads = threads_;
  point.payload_bytes = bytes;
  point.inflight = depth;
  return point;
}

/// Returns a load with as many searches as a core has for clusters at least, and no more reads
/// outstanding than a core has room for: the longest cluster has about twice the bytes of the
/// clusters that are read.
DiskSeries MeasuredDisk::together(std::uint32_t bytes, std::uint32_t reads) const {
  const std::uint32_t block = load_.file().block_bytes();
  const std::uint32_t touched = bytes + block;
  BenchPoint point = alone(touched - block / 2, kLeastSlots * reads);
  point.batch = reads;
  point.most_outstanding = std::min(point.inflight, search::disk_read_count(2 * touched));
  point.together = true;
  return {point, double(touched), {}, {}};
}

MeasuredDisk::Pass MeasuredDisk::pass(const BenchPoint& point) {
  const DiskLoadResult result = load_.run(point, pass_seconds_, ++seed_);
  BenchSamples samples;
  add_pass(samples, result.threads);
  return {samples.reads_per_s.front() / 1e6, samples.mean_us.front(), result.kernel_ns_per_read};
}

/// Finds the fewest reads in flight with nearly the best rate, and what fewer bring.
void MeasuredDisk::find_depth() {
  double best = 0;
  for (const std::uint32_t depth : kDepths) {
    const double rate = pass(alone(sizes().front(), depth)).reads_per_us;
    device_.shallow.push_back({double(depth), rate});
    best = std::max(best, rate);
  }
  for (DepthShare& entry : device_.shallow) entry.share /= best;
  const auto enough = std::find_if(device_.shallow.begin(), device_.shallow.end(),
                                   [](const DepthShare& e) { return e.share >= kNearly; });
  device_.depth = static_cast<std::uint32_t>(enough->depth);
  device_.shallow.erase(enough, device_.shallow.end());
}

void MeasuredDisk::measure(const Interruption& interrupted) {
  for (std::uint32_t round = 0; round < kRoundsOfCall; ++round) {
    for (Way& way : ways_) {
      for (DiskSeries& size : way.sizes) {
        if (asked_to_end(interrupted)) throw WorkInterrupted();
        const Pass result = pass(size.point);
        size.occupied_ns.push_back(1e3 / result.reads_per_us);
        size.kernel_ns.push_back(result.kernel_ns);
      }
    }
  }
}

AdviceDevice MeasuredDisk::device() const {
  AdviceDevice device = device_;
  device.measured = read_costs(ways_.front().sizes);
  for (std::size_t i = 1; i < ways_.size(); ++i) {
    device.together.push_back({double(ways_[i].together), read_costs(ways_[i].sizes)});
  }
  device.model.requests_per_us = 1e3 / device.measured.front().occupied_ns;
  device.model.bandwidth_gbps = device.measured.back().bytes / device.measured.back().occupied_ns;
  return device;
}

}  // namespace farvec::measure
