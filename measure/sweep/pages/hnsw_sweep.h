// Runs the sweep of an HNSW graph on pages over ways of reading, buffers, and searches in flight.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/sweep/sweep_file.h"
#include "measure/sweep/sweep_questions.h"
#include "measure/sweep/sweep_run.h"

namespace farvec::measure {

/// Says what is varied, and over what. Points that differ only in their word of `searches` are
/// measured in turn.
struct HnswSweep {
  std::string index;
  SweepQuestions questions;
  std::vector<std::string> searches = {"sync", "parallel", "pipelined"};
  std::vector<std::string> buffers = {"10%", "50%"};  ///< shares of the pages, or sizes
  std::vector<std::uint32_t> lists = {20, 40, 80, 160};
  std::vector<std::uint32_t> slots = {0};  ///< 0: 8
  std::vector<std::uint32_t> threads = {1};
  std::uint32_t min_complete = 6;
  std::uint32_t k = 10;
  std::uint32_t passes = 5;
  std::string range;  ///< range of the queries; those outside of it fill the buffer before each
                      ///< pass
  SweepManner manner;
};

/// Does what sweep() does (measure/sweep/sweep.h). Every pass opens the graph anew, with an empty
/// buffer that the queries outside of the range fill, and searches every query of the range once.
std::vector<nlohmann::ordered_json> sweep_hnsw(HnswSweep sweep, const SweepFiles& files);

}  // namespace farvec::measure
