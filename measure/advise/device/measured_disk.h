// Measures a disk of this machine, which it reads in the ways that searches read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "measure/advise/device/device.h"
#include "measure/bench/disk_load.h"

namespace farvec::measure {

/// Holds the time that reads of one size, in one way, took in each pass.
struct DiskSeries {
  BenchPoint point;
  double bytes = 0;  ///< bytes that the disk brings for each read
  std::vector<double> occupied_ns;
  std::vector<double> kernel_ns;
};

/// Returns the medians of series of ascending sizes, each with at least one pass. A larger read is
/// never cheaper, whatever a short pass says.
std::vector<ReadCost> read_costs(std::span<const DiskSeries> series);

/// Does random reads through the engine that searches read with, in two ways. In the first, each
/// read is followed by another as soon as it has come. In the second, a number of reads go out and
/// are waited for together, as those of clusters do; these are not of whole blocks, and are copied.
/// The file that is made in a folder is there until this object is destroyed.
class MeasuredDisk {
 public:
  /// Finds the latency and the depth. `seconds` is the time of all passes together, when measure()
  /// is called kCalls times. Throws Error.
  MeasuredDisk(const DiskTarget& target, std::uint32_t threads, double seconds);

  /// Does some passes of each size in each way. A disk that others share behaves differently some
  /// minutes later: call this before and after whatever takes minutes. Throws Error, and
  /// WorkInterrupted.
  void measure(const Interruption& interrupted = {});
  static constexpr std::uint32_t kCalls = 2;

  /// Returns the medians so far. Call measure() at least once before.
  AdviceDevice device() const;

 private:
  struct Pass {
    double reads_per_us = 0;
    double mean_us = 0;
    double kernel_ns = 0;
  };
  /// The series of all sizes for one way to read.
  struct Way {
    std::uint32_t together = 1;
    std::vector<DiskSeries> sizes;
  };

  BenchPoint alone(std::uint32_t bytes, std::uint32_t depth) const;
  DiskSeries together(std::uint32_t bytes, std::uint32_t reads) const;
  std::vector<std::uint32_t> sizes() const;
  Pass pass(const BenchPoint& point);
  void find_depth();

  const std::string path_;
  const std::uint32_t threads_;
  const double pass_seconds_;
  DiskLoad load_;
  std::uint64_t seed_ = 0;
  AdviceDevice device_;  ///< all but the costs
  std::vector<Way> ways_;
};

}  // namespace farvec::measure
