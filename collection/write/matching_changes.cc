// A Writer changes the rows that meet a condition: it erases them, or updates their attributes.
#include <algorithm>
#include <utility>
#include <vector>

#include "collection/state/matching_rows.h"
#include "collection/write/writer.h"
#include "layout/collection/change_record.h"

namespace farvec::collection {
namespace {

/// Leaves the rows whose ids, which ascend, are among these.
void keep_only(std::span<const std::uint64_t> ids, std::vector<MatchingRows>& parts) {
  for (MatchingRows& part : parts) {
    std::erase_if(part.rows, [&](NodeId row) {
      return !std::binary_search(ids.begin(), ids.end(), part.id(row));
    });
  }
}

}  // namespace

/// Does the work of a change, and returns its status once what is done is durable.
Status Writer::ended(RowsChange& change, const std::function<void()>& work) const {
  try {
    work();
  } catch (...) {
    (void)refused({}, change.end);
    throw;
  }
  return change.status.ok() ? wait_for_log(change.end, change.patience.until)
                            : refused(change.status, change.end);
}

/// Finds the rows without the lock, and then changes those that are where they were and as they
/// were. A row that a segment has taken meanwhile, or that was updated, is looked for again.
void Writer::change_matching(const attributes::Condition& condition, RowsChange& change,
                             const ChangePart& change_part) {
  std::vector<std::uint64_t> looked_for;
  bool again = false;
  do {
    const ViewPointer view = this->view();
    std::vector<MatchingRows> parts = matching_rows(*view, condition, change.patience.interrupted);
    if (again) keep_only(looked_for, parts);
    change.moved.clear();
    for (const MatchingRows& part : parts) change_part(part, change);
    looked_for = std::move(change.moved);
    std::sort(looked_for.begin(), looked_for.end());
    again = !looked_for.empty();
    if (again) change.end_when_late();
  } while (change.status.ok() && again);
}

/// A row that was replaced is left alone unless the new one meets the condition.
Status Writer::erase(const attributes::Condition& condition, const changes::Patience& patience,
                     changes::Receipt& receipt) {
  RowsChange change{.patience = patience, .receipt = receipt};
  return ended(change, [&] {
    change_matching(condition, change, [this](const MatchingRows& part, RowsChange& erasure) {
      erase_part(part, erasure);
    });
  });
}

void Writer::erase_part(const MatchingRows& part, RowsChange& change) {
  const std::size_t most = layout::changes_per_record(0);
  for (std::size_t next = 0; change.status.ok() && next < part.rows.size(); next += most) {
    const auto rows = std::span(part.rows).subspan(next, std::min(most, part.rows.size() - next));
    std::vector<std::uint64_t> ids;
    std::vector<std::uint64_t> moved;
    Lock lock = this->lock();
    const Result<wal::Position> appended =
        log_unless_paused(lock, change.patience.until, [&]() -> Result<wal::Position> {
          const ViewPointer now = view();
          ids.clear();
          moved.clear();
          for (const NodeId row : rows) {
            (is_unchanged(*now, part.place(row)) ? ids : moved).push_back(part.id(row));
          }
          if (ids.empty()) return change.end;
          return append(layout::RowChangeRecord::erase(version_ + 1, ids));
        });
    change.status = appended.status();
    if (!change.status.ok()) return;
    change.moved.insert(change.moved.end(), moved.begin(), moved.end());
    if (ids.empty()) continue;
    change.end = appended.value();
    erased(ids, change.receipt);
  }
}

Status Writer::update(const attributes::Condition& condition, const NewValues& values,
                      const changes::Patience& patience, changes::Receipt& receipt) {
  RowsChange change{.patience = patience, .receipt = receipt};
  return ended(change, [&] {
    change_matching(condition, change, [&](const MatchingRows& part, RowsChange& update) {
      update_part(part, values, update);
    });
  });
}

}  // namespace farvec::collection
