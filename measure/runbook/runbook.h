// Reads streaming runbooks, which say what is inserted, deleted, replaced and searched, step by
// step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace farvec::measure {

enum class StepKind : std::uint8_t { insert, erase, replace, search };

/// Returns "insert", "delete", "replace" or "search".
std::string_view to_string(StepKind kind);

struct RunbookStep {
  std::uint32_t number = 0;  ///< counted from 1
  StepKind kind = StepKind::search;
  /// Rows of the data. For insert and delete they are also the ids. For replace they are the rows
  /// whose vectors the ids from `first_id` on get.
  NodeId begin = 0;
  NodeId end = 0;
  NodeId first_id = 0;

  std::uint64_t count() const { return end - begin; }
};

struct Runbook {
  std::string dataset;           ///< the file's name for it
  std::uint64_t max_points = 0;  ///< most points that are live at a time, from the file
  std::vector<RunbookStep> steps = {};
};

/// Reads a YAML file of the streaming track of big-ann-benchmarks. Below the name of a data set it
/// has `max_pts` and steps by their numbers, each with `operation` (insert, delete, search,
/// replace) and `start` and `end`, or for replace `tags_start`, `tags_end`, `ids_start` and
/// `ids_end`. Other keys of the data set (`gt_url`) are passed over. `dataset` chooses where the
/// file has several; an empty one takes the only one. Throws an Error with the file and the step
/// for a file that is no runbook, for steps that are not numbered 1, 2, 3, ..., and for ranges that
/// are empty.
Runbook read_runbook(const std::string& path, const std::string& dataset);

/// Holds the vectors that are there after some steps: a row of the data for every live id.
class LiveSet {
 public:
  explicit LiveSet(std::uint64_t ids) : rows_(ids, kInvalidNode) {}

  /// Applies a step. Throws an Error that names the step when it inserts what is there, when it
  /// deletes or replaces what is not, or when it goes beyond the ids or the data.
  void apply(const RunbookStep& step);

  std::uint64_t count() const { return count_; }
  bool holds(NodeId id) const { return id < rows_.size() && rows_[id] != kInvalidNode; }
  /// Returns the row of the id's vector; kInvalidNode where no vector has the id.
  NodeId row_of(NodeId id) const { return rows_[id]; }
  /// Returns the live ids in ascending order.
  std::vector<NodeId> ids() const;

 private:
  void check(const RunbookStep& step, NodeId id, bool wanted) const;

  std::vector<NodeId> rows_;
  std::uint64_t count_ = 0;
};

/// Goes through the runbook without an index, so that it fails before anything is built. Throws
/// Error where LiveSet::apply() does, and when more are live than `max_points`, when fewer than `k`
/// are live at a search, or when nothing is searched. Returns the most that are live.
std::uint64_t check_runbook(const Runbook& runbook, std::uint64_t rows, std::uint32_t k);

}  // namespace farvec::measure
