// Runs fio, the well-known disk benchmark, to compare it with ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farvec::measure {

struct FioJob {
  std::string path;
  bool direct = true;
  std::uint32_t block_bytes = 4096;
  std::uint32_t small_bytes = 0;  ///< size of the small reads of a mix
  double small_share = 0;         ///< their share of all reads; fio takes whole percents
  std::uint32_t depth = 1;
  std::uint32_t threads = 1;
  double run_ms = 1000;
};

/// Holds what fio measured, over all threads together.
struct FioResult {
  double reads_per_s = 0;
  double mean_us = 0;
  double p50_us = 0;
  double p99_us = 0;
};

/// Returns "fio-3.33" or the like; empty when there is no fio in PATH.
std::string fio_version();

/// Does random reads through fio's io_uring engine, with the same setting as ours: registered files
/// and buffers, no record of what was read already, threads pinned to the processors that ours
/// would have. Throws Error with fio's message when it fails.
FioResult run_fio(const FioJob& job);

/// Returns fio's options for the job, without the program's name.
std::vector<std::string> fio_options(const FioJob& job);

/// Reads what fio printed with --output-format=json. Throws Error.
FioResult parse_fio(const std::string& output);

}  // namespace farvec::measure
