// A Writer erases the rows that meet a condition.
#include <algorithm>
#include <vector>

#include "collection/state/matching_rows.h"
#include "collection/write/writer.h"
#include "layout/collection/change_record.h"

namespace farvec::collection {
namespace {

constexpr Status kLate{StatusCode::deadline_exceeded,
                       "the rows that are left have moved to other segments again: try again"};

/// Leaves the rows whose ids, which ascend, are among these.
void keep_only(std::span<const std::uint64_t> ids, std::vector<MatchingRows>& parts) {
  for (MatchingRows& part : parts) {
    std::erase_if(part.rows, [&](NodeId row) {
      return !std::binary_search(ids.begin(), ids.end(), part.id(row));
    });
  }
}

}  // namespace

/// Finds the rows without the lock, and then erases those that are where they were. A row that a
/// segment has taken meanwhile is looked for again, and one that was replaced is left alone unless
/// the new one meets the condition.
Status Writer::erase(const attributes::Condition& condition, const changes::Patience& patience,
                     changes::Receipt& receipt) {
  Erasure erasure{.until = patience.until, .receipt = receipt};
  try {
    erase_until_gone(condition, patience.interrupted, erasure);
  } catch (...) {
    (void)refused({}, erasure.end);
    throw;
  }
  return erasure.status.ok() ? wait_for_log(erasure.end, erasure.until)
                             : refused(erasure.status, erasure.end);
}

void Writer::erase_until_gone(const attributes::Condition& condition,
                              const Interruption& interrupted, Erasure& erasure) {
  std::vector<std::uint64_t> looked_for;
  bool again = false;
  do {
    const ViewPointer view = this->view();
    std::vector<MatchingRows> parts = matching_rows(*view, condition, interrupted);
    if (again) keep_only(looked_for, parts);
    erasure.moved.clear();
    for (const MatchingRows& part : parts) erase_part(part, erasure);
    looked_for = std::move(erasure.moved);
    std::sort(looked_for.begin(), looked_for.end());
    again = !looked_for.empty();
    if (again && now_ticks() >= erasure.until) erasure.status = kLate;
  } while (erasure.status.ok() && again);
}

void Writer::erase_part(const MatchingRows& part, Erasure& erasure) {
  const std::size_t most = layout::changes_per_record(0);
  for (std::size_t next = 0; erasure.status.ok() && next < part.rows.size(); next += most) {
    const auto rows = std::span(part.rows).subspan(next, std::min(most, part.rows.size() - next));
    std::vector<std::uint64_t> ids;
    bool moved = false;
    Lock lock = this->lock();
    const Result<wal::Position> appended = log_change(
        lock, erasure.until, [&] { return wait_while_paused(lock, erasure.until); },
        [&]() -> Result<wal::Position> {
          const RowSet* const out = find_out(*view(), part.part());
          moved = out == nullptr;
          ids.clear();
          for (const NodeId row : rows) {
            if (moved || !out->contains(row)) ids.push_back(part.id(row));
          }
          if (moved || ids.empty()) return erasure.end;
          return append(layout::RowChangeRecord::erase(version_ + 1, ids));
        });
    erasure.status = appended.status();
    if (!erasure.status.ok()) return;
    if (moved) {
      erasure.moved.insert(erasure.moved.end(), ids.begin(), ids.end());
    } else if (!ids.empty()) {
      erasure.end = appended.value();
      erased(ids, erasure.receipt);
    }
  }
}

}  // namespace farvec::collection
