#include "measure/runbook/runbook.h"

#include <algorithm>

#include "base/error.h"

namespace farvec::measure {

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::insert:
      return "insert";
    case StepKind::erase:
      return "delete";
    case StepKind::replace:
      return "replace";
    case StepKind::search:
      return "search";
  }
  return "";
}

void LiveSet::check(const RunbookStep& step, NodeId id, bool wanted) const {
  const bool live = rows_[id] != kInvalidNode;
  if (live == wanted) return;
  throw Error("step {} of the runbook ({}) names id {}, which is {} then", step.number,
              to_string(step.kind), id, live ? "there already" : "not there");
}

void LiveSet::apply(const RunbookStep& step) {
  if (step.kind == StepKind::search) return;
  const std::uint64_t last = std::max<std::uint64_t>(step.end, step.first_id + step.count());
  if (last > rows_.size()) {
    throw Error("step {} of the runbook ({}) goes up to row {}, the data has {} rows", step.number,
                to_string(step.kind), last, rows_.size());
  }
  for (NodeId i = 0; i < step.count(); ++i) {
    const NodeId id = step.first_id + i;
    const bool inserts = step.kind == StepKind::insert;
    check(step, id, !inserts);
    rows_[id] = step.kind == StepKind::erase ? kInvalidNode : step.begin + i;
  }
  if (step.kind == StepKind::insert) count_ += step.count();
  if (step.kind == StepKind::erase) count_ -= step.count();
}

std::vector<NodeId> LiveSet::ids() const {
  std::vector<NodeId> ids;
  ids.reserve(count_);
  for (NodeId id = 0; id < rows_.size(); ++id) {
    if (rows_[id] != kInvalidNode) ids.push_back(id);
  }
  return ids;
}

std::uint64_t check_runbook(const Runbook& runbook, std::uint64_t rows, std::uint32_t k) {
  LiveSet live(rows);
  std::uint64_t most = 0;
  std::size_t searches = 0;
  for (const RunbookStep& step : runbook.steps) {
    live.apply(step);
    most = std::max(most, live.count());
    if (step.kind != StepKind::search) continue;
    ++searches;
    if (live.count() >= k) continue;
    throw Error("step {} of the runbook searches for {} neighbours when {} vectors are there",
                step.number, k, live.count());
  }
  if (runbook.max_points > 0 && most > runbook.max_points) {
    throw Error("the runbook has {} vectors at a time, more than its max_pts of {}", most,
                runbook.max_points);
  }
  if (searches == 0) throw Error("the runbook searches nothing: it has no search step");
  return most;
}

}  // namespace farvec::measure
