// How many queries a core interleaves so that its disk's latency hides behind their computing.
#pragma once

#include <cstdint>

#include "ssd_baseline/io/disk_engine.h"

namespace farvec::ssd_baseline {

struct LatencyProbe {
  std::uint32_t reads = 200;
  std::uint32_t bytes = 4096;  ///< of a read; widened to whole blocks
  std::uint32_t file = 0;
  std::uint64_t seed = 1;
  double limit_us = 2e6;  ///< of a read, and of all together: it stops early then
};

/// Mean latency of random reads, one at a time, in microseconds: I of the batch size. The engine
/// has no other reads meanwhile. Throws Error when the file is empty or a read fails; one that is
/// late closes the engine.
double mean_read_latency_us(DiskEngine& engine, const LatencyProbe& probe = {});

struct BatchModel {
  double alpha = 1;       ///< reads per computing task between two reads; more than 0
  double latency_us = 0;  ///< I, of a read
  double compute_us = 0;  ///< T, of a task
  std::uint32_t most = 256;
};

/// ceil(alpha * I / T) (section 3.1 of the VeLoANN paper), from 1 to `most`; `most` when computing
/// takes no time.
std::uint32_t batch_size(const BatchModel& model);

}  // namespace farvec::ssd_baseline
