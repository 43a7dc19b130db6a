#include "measure/runbook/step_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/brute_force.h"
#include "dataset/view_reader.h"
#include "search/searchers/exact_distance.h"

namespace farvec::measure {
namespace {

namespace fs = std::filesystem;

/// Says whether a live vector may be a neighbour.
bool is_meant(const TruthInput& input, const LiveSet& live, NodeId id) {
  if (!live.holds(id)) return false;
  if (input.condition == nullptr) return true;
  const bool known = input.attributes.count() > 0;
  const layout::Tuple tuple(known ? input.attributes.row(live.row_of(id)) : layout::null_tuple());
  return evaluate(*input.condition, tuple, id) == attributes::Truth::yes;
}

dataset::GroundTruth compute(const TruthInput& input, const LiveSet& live) {
  std::vector<NodeId> ids = live.ids();
  std::erase_if(ids, [&](NodeId id) { return !is_meant(input, live, id); });
  const auto k = static_cast<std::uint32_t>(std::min<std::size_t>(input.k, ids.size()));
  if (k == 0) return {.queries = input.queries.count, .k = 0, .ids = {}, .distances = {}};
  std::vector<NodeId> rows;
  rows.reserve(ids.size());
  for (const NodeId id : ids) rows.push_back(live.row_of(id));
  dataset::ViewReader base(input.data, rows, "the vectors that are there");
  dataset::ViewReader queries(input.queries, "the queries");
  dataset::GroundTruth truth =
      dataset::exact_neighbors(base, queries, search::exact_distance(input.metric, base.info()),
                               {.k = k, .threads = input.threads, .quiet = input.quiet});
  for (NodeId& id : truth.ids) id = ids[id];
  return truth;
}

/// The file of a folder of true neighbours that says which condition they meet.
constexpr const char* kFilterFile = "filter.txt";

/// Notes the condition in a folder without true neighbours. Throws Error where the folder has those
/// of another condition: nearest rows that meet less, or more, are no fault that a file shows.
void require_same_filter(const TruthInput& input) {
  const fs::path note = fs::path(input.folder) / kFilterFile;
  const std::string wanted = input.condition == nullptr ? "" : to_string(*input.condition);
  std::string noted;
  std::getline(std::ifstream(note), noted, '\0');
  if (noted == wanted) return;
  if (noted.empty() && fs::is_empty(input.folder)) {
    std::ofstream(note) << wanted;
    return;
  }
  throw Error("'{}' has the true neighbours {}: give this run a folder of its own", input.folder,
              noted.empty() ? "of searches without a filter" : "that meet " + noted);
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

void check_ids(const TruthInput& input, const dataset::GroundTruth& truth, const LiveSet& live,
               const fs::path& file) {
  const auto meant = [&](NodeId id) { return is_meant(input, live, id); };
  if (std::all_of(truth.ids.begin(), truth.ids.end(), meant)) return;
  throw Error("'{}' names vectors that are not there at its step{}: it is of another runbook{}",
              file.string(), input.condition == nullptr ? "" : ", or do not meet the filter",
              input.condition == nullptr ? "" : " or filter");
}

dataset::GroundTruth read(const TruthInput& input, const LiveSet& live, const fs::path& file) {
  dataset::GroundTruth truth = dataset::read_groundtruth(file.string());
  check_ids(input, truth, live, file);
  if (truth.queries >= input.queries.count && truth.k >= input.k) return truth;
  throw Error("'{}' has {} neighbours of {} queries: {} of {} are needed", file.string(), truth.k,
              truth.queries, input.k, input.queries.count);
}

}  // namespace

dataset::GroundTruth truth_of_step(const TruthInput& input, const RunbookStep& step,
                                   const LiveSet& live) {
  if (input.folder.empty()) return compute(input, live);
  fs::create_directories(input.folder);
  require_same_filter(input);
  const fs::path file = find_file(input, step);
  if (!file.empty()) return read(input, live, file);
  dataset::GroundTruth truth = compute(input, live);
  if (truth.k < input.k) return truth;  // a file of fewer would be taken for one of another k
  const auto name = fmt::format("step{}.gt{}", step.number, input.k);
  dataset::write_groundtruth((fs::path(input.folder) / name).string(), truth);
  return truth;
}

}  // namespace farvec::measure
