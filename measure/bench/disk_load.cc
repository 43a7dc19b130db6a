#include "measure/bench/disk_load.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "disk/uring_queue.h"
#include "search/core/pinned_threads.h"

namespace farvec::measure {
namespace {

/// New reads go out when the depth divided by this many has completed: together they cost one
/// system call, and one exit where the disk is a virtual machine's.
constexpr std::uint32_t kRefills = 8;
constexpr std::size_t kMaxDestinationBytes = std::size_t{1} << 30;

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// Returns the processor time of the calling thread inside the kernel.
double kernel_seconds() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return static_cast<double>(use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_stime.tv_usec) * 1e-6;
}

}  // namespace

DiskLoad::DiskLoad(const DiskTarget& target) {
  std::string path = target.path;
  if (is_folder(path)) path = test_file_.emplace(path, target.bytes, target.quiet).path();
  files_ = {std::make_shared<disk::DiskFile>(path)};
}

void DiskLoad::prepare(std::span<const BenchPoint> points) {
  const transport::DiskEndpoint probe(disk::open_disk(files_, disk::kMaxQueuedRequests),
                                      {.max_read_bytes = disk::kMaxDiskRequestBytes});
  model_ = probe.description();
  std::size_t bytes = 0;
  std::size_t threads = 0;
  for (const BenchPoint& point : points) {
    const transport::LoadShape shape = shape_of(point);
    transport::check_load(shape, probe, 0);
    bytes = std::max(bytes, transport::destination_bytes(shape));
    threads = std::max<std::size_t>(threads, point.threads);
  }
  if (bytes > kMaxDestinationBytes / std::max<std::size_t>(threads, 1)) {
    throw Error("{} threads with {} bytes of reads in flight each: use at most {} bytes together",
                threads, bytes, kMaxDestinationBytes);
  }
  destinations_.clear();
  for (std::size_t t = 0; t < threads; ++t) destinations_.emplace_back(bytes);
}

transport::LoadShape DiskLoad::shape_of(const BenchPoint& point) const {
  const std::size_t unit = std::max<std::size_t>(file().block_bytes(), transport::kLoadAlignment);
  return {.payload_bytes = point.payload_bytes,
          .inflight = point.inflight,
          .batch = point.together ? point.batch : std::max(point.inflight / kRefills, 1u),
          .small_share = point.mix,
          .alignment = static_cast<std::uint32_t>(round_up(point.payload_bytes, unit)),
          .together = point.together,
          .most_outstanding = point.most_outstanding};
}

/// Returns options for an engine that copies a payload that is not of whole blocks.
transport::DiskEndpointOptions DiskLoad::endpoint_options(const BenchPoint& point) const {
  const bool whole = point.payload_bytes % file().block_bytes() == 0;
  return {.max_read_bytes = disk::kMaxDiskRequestBytes,
          .max_staged_bytes = whole ? transport::kSmallReadBytes : point.payload_bytes};
}

DiskLoadResult DiskLoad::run(const BenchPoint& point, double seconds, std::uint64_t seed) {
  DiskLoadResult result;
  result.threads.resize(point.threads);
  std::vector<double> kernel(point.threads);
  Random seeds(seed);
  std::vector<std::uint64_t> thread_seeds;
  for (std::uint32_t t = 0; t < point.threads; ++t) thread_seeds.push_back(seeds.next());
  search::run_pinned(point.threads, [&](std::size_t t) {
    transport::DiskEndpoint endpoint(disk::open_disk(files_, shape_of(point).outstanding()),
                                     endpoint_options(point));
    endpoint.register_memory(destinations_[t].span());
    transport::LoadOptions options;
    options.shape = shape_of(point);
    options.destinations = destinations_[t].span();
    options.seed = thread_seeds[t];
    transport::ReadLoad load(endpoint, options);
    const double kernel_before = kernel_seconds();
    const Ticks begin = now_ticks();
    result.threads[t] = load.run(seconds * 1e6);
    const double wall_us = ticks_to_us(now_ticks() - begin);
    // The first and the last reads are not counted. The same share of the kernel's time is left
    // out.
    const double counted = ticks_to_us(result.threads[t].elapsed) / wall_us;
    kernel[t] = (kernel_seconds() - kernel_before) * counted;
  });
  double reads = 0;
  for (const transport::LoadCounts& counts : result.threads) {
    reads += static_cast<double>(counts.reads);
  }
  const double kernel_ns = std::accumulate(kernel.begin(), kernel.end(), 0.0) * 1e9;
  result.kernel_ns_per_read = kernel_ns / std::max(reads, 1.0);
  return result;
}

}  // namespace farvec::measure
