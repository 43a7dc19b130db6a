// farvec sweep of an HNSW graph on pages: ways of reading, buffers, searches in flight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "cli/sweep/sweep_file.h"
#include "cli/sweep/sweep_plan.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"
#include "ssd_baseline/paged/change/hnsw_crew.h"

namespace farvec::cli {

/// What is varied, and over what. Searches that differ in `searches` alone are measured in turn.
struct HnswSweep {
  std::string index;
  std::vector<std::string> searches;  ///< sync, parallel, pipelined
  std::vector<std::string> buffers;   ///< "10%" of the pages, or sizes
  std::vector<std::uint32_t> lists;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> threads;
  std::uint32_t min_complete = 6;
  std::uint32_t k = 10;
  std::uint32_t passes = 5;
  std::string queries;  ///< file
  std::string groundtruth;
  std::string range;  ///< of the queries; those outside of it fill the buffer before each pass
};

/// Measures, prints and writes a row for each combination that the file has not. Every pass opens
/// the graph anew, with an empty buffer that the queries outside of the range fill, and searches
/// every query of the range once. Throws Error, and Interrupted.
void sweep_hnsw(const HnswSweep& sweep, SweepFile& file);

}  // namespace farvec::cli
