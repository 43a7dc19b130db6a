// Does random reads of a disk through the engine that searches read it with, for measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "disk/disk_engine.h"
#include "measure/bench/bench_report.h"
#include "measure/bench/test_file.h"
#include "transport/disk/disk_endpoint.h"
#include "transport/load/read_load.h"

namespace farvec::measure {

/// Size of the file that a measurement makes in a folder. Reads go past the page cache, so it only
/// has to be larger than what a disk keeps in memory of its own: drives have up to 1 GiB.
inline constexpr std::uint64_t kDefaultTestBytes = std::uint64_t{1} << 30;

/// Says what is to be read.
struct DiskTarget {
  std::string path;  ///< a file or block device, which is only read, or a folder
  std::uint64_t bytes = kDefaultTestBytes;  ///< size of the file that is made in a folder
  bool quiet = false;                       ///< whether to write nothing about that file to stderr
};

/// Holds the result of one measurement.
struct DiskLoadResult {
  std::vector<transport::LoadCounts> threads;
  /// Processor time that the kernel took for each read, of the threads that read, without what
  /// interrupts took.
  double kernel_ns_per_read = 0;
};

class DiskLoad {
 public:
  /// Makes the file in a folder, as TestFile does. Throws Error.
  explicit DiskLoad(const DiskTarget& target);

  /// Refuses points that cannot be measured and makes room for the others; call it before run(). It
  /// looks at these members of a point: threads, payload_bytes, inflight and mix, and batch where
  /// reads go together. Throws Error.
  void prepare(std::span<const BenchPoint> points);

  /// Measures. Each thread opens an engine of its own: a ring belongs to the thread that reads with
  /// it. The seeds of the threads' offsets begin with `seed`. Throws Error.
  DiskLoadResult run(const BenchPoint& point, double seconds, std::uint64_t seed);

  /// Returns the shape of the load: reads begin at multiples of the payload, as fio's do, and the
  /// smallest are of one block.
  transport::LoadShape shape_of(const BenchPoint& point) const;

  const disk::DiskFile& file() const { return *files_.front(); }
  std::shared_ptr<const disk::DiskFile> shared_file() const { return files_.front(); }
  /// Returns the engine's description.
  const std::string& model() const { return model_; }

 private:
  transport::DiskEndpointOptions endpoint_options(const BenchPoint& point) const;

  std::optional<TestFile> test_file_;
  disk::DiskFiles files_;
  std::string model_;
  std::vector<HugeBuffer> destinations_;  ///< one per thread
};

}  // namespace farvec::measure
