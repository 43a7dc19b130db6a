#include "measure/runbook/step_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <vector>

#include "base/error.h"
#include "dataset/brute_force.h"
#include "dataset/view_reader.h"
#include "search/searchers/exact_distance.h"

namespace farvec::measure {
namespace {

namespace fs = std::filesystem;

dataset::GroundTruth compute(const TruthInput& input, const LiveSet& live) {
  const std::vector<NodeId> ids = live.ids();
  std::vector<NodeId> rows;
  rows.reserve(ids.size());
  for (const NodeId id : ids) rows.push_back(live.row_of(id));
  dataset::ViewReader base(input.data, rows, "the vectors that are there");
  dataset::ViewReader queries(input.queries, "the queries");
  dataset::GroundTruth truth =
      dataset::exact_neighbors(base, queries, search::exact_distance(input.metric, base.info()),
                               {.k = input.k, .threads = input.threads, .quiet = input.quiet});
  for (NodeId& id : truth.ids) id = ids[id];
  return truth;
}

/// Returns the step's file with enough neighbours; an empty path when there is none.
fs::path find_file(const TruthInput& input, const RunbookStep& step) {
  const std::regex name(fmt::format("step{}\\.gt([0-9]{{1,6}})", step.number));
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(input.folder, missing)) {
    std::smatch match;
    const std::string file = entry.path().filename().string();
    if (!std::regex_match(file, match, name)) continue;
    if (std::stoul(match[1]) >= input.k) return entry.path();
  }
  return {};
}

void check_ids(const dataset::GroundTruth& truth, const LiveSet& live, const fs::path& file) {
  const auto here = [&live](NodeId id) { return live.holds(id); };
  if (std::all_of(truth.ids.begin(), truth.ids.end(), here)) return;
  throw Error("'{}' names vectors that are not there at its step: it is of another runbook",
              file.string());
}

dataset::GroundTruth read(const TruthInput& input, const LiveSet& live, const fs::path& file) {
  dataset::GroundTruth truth = dataset::read_groundtruth(file.string());
  check_ids(truth, live, file);
  if (truth.queries >= input.queries.count && truth.k >= input.k) return truth;
  throw Error("'{}' has {} neighbours of {} queries: {} of {} are needed", file.string(), truth.k,
              truth.queries, input.k, input.queries.count);
}

}  // namespace

dataset::GroundTruth truth_of_step(const TruthInput& input, const RunbookStep& step,
                                   const LiveSet& live) {
  if (input.folder.empty()) return compute(input, live);
  fs::create_directories(input.folder);
  const fs::path file = find_file(input, step);
  if (!file.empty()) return read(input, live, file);
  dataset::GroundTruth truth = compute(input, live);
  const auto name = fmt::format("step{}.gt{}", step.number, input.k);
  dataset::write_groundtruth((fs::path(input.folder) / name).string(), truth);
  return truth;
}

}  // namespace farvec::measure
