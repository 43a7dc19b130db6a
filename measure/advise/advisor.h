// Goes the whole way from a vector file to an advice: advise() builds small indexes of samples,
// counts and measures what their searches do, and says what indexes of the whole file will do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "measure/advise/report.h"
#include "measure/bench/disk_load.h"

namespace farvec::measure {

inline constexpr double kDefaultDiskSeconds = 10;

struct AdviceOptions {
  IndexedFile file;  ///< advise() fills in `row_bytes`
  std::string queries;
  std::string queries_range;
  std::vector<DeviceChoice> devices;             ///< one advice for each, from the same indexes
  std::uint64_t disk_bytes = kDefaultTestBytes;  ///< size of the file on a disk that is measured
  double disk_seconds = kDefaultDiskSeconds;     ///< how long each disk that is measured is read
  double recall = 0.95;
  std::uint32_t k = 10;
  std::uint32_t threads = 1;  ///< cores that search
  std::uint64_t sample = 0;   ///< rows of the largest sample; 0: default_sample() decides
  double most_minutes = 10;   ///< for building and counting; a larger sample is cut to fit
  std::uint64_t most_queries = 1000;
  std::uint64_t seed = 1;
  GraphBuild recipe;
  std::vector<std::uint32_t> degrees;  ///< none: no graphs
  std::vector<layout::LayoutKind> graph_layouts;
  std::vector<double> memory_percents;      ///< budgets of slotted pages
  std::vector<std::uint32_t> cluster_rows;  ///< none: no clusters
  std::vector<std::uint32_t> replicas;
  std::vector<layout::ClusterLayoutKind> layouts;
  Limits limits;
  std::filesystem::path scratch;  ///< an existing folder for small indexes; it stays
  bool quiet = false;
  Interruption interrupted = {};
};

/// The least number of queries: fewer say too little about a recall.
inline constexpr std::size_t kLeastQueries = 100;
/// The least number of rows: fewer say too little about growth.
inline constexpr std::uint64_t kLeastRows = 1000;

/// Builds, counts and measures small indexes, and says what whole ones will do. Returns one report
/// per device, in the order of options.devices. Throws Error, and WorkInterrupted.
std::vector<AdviceReport> advise(AdviceOptions options);

}  // namespace farvec::measure
