#include "changes/distinct_update.h"

#include <algorithm>
#include <unordered_set>

#include "base/status_error.h"
#include "layout/collection/change_record.h"

namespace farvec::changes {
namespace {

/// Says of each id whether it has come before.
std::vector<bool> repeats_of(std::span<const std::uint64_t> ids) {
  std::vector<bool> again(ids.size());
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < ids.size(); ++i) again[i] = !seen.insert(ids[i]).second;
  return again;
}

/// Throws unless the tuples are in their bytes: nothing else of them is looked at here.
void require_ends(const layout::TupleView& values) {
  std::uint64_t begin = values.begin;
  for (const std::uint64_t end : values.ends) {
    if (end < begin || end > values.bytes.size()) {
      throw StatusError(StatusCode::invalid_argument, "the new values end where they cannot");
    }
    begin = end;
  }
}

}  // namespace

DistinctUpdate::DistinctUpdate(std::span<const std::uint64_t> ids, const ColumnValues& update)
    : update_(update), same_(update.values.count() == 1), ids_(ids), values_(update.values) {
  if (!same_ && values_.count() != ids.size()) {
    throw StatusError(StatusCode::invalid_argument, "{} ids and the new values of {} rows",
                      ids.size(), values_.count());
  }
  require_ends(values_);
  const std::vector<bool> again = repeats_of(ids);
  repeated_ = static_cast<std::size_t>(std::count(again.begin(), again.end(), true));
  if (repeated_ > 0) leave_out(again);
}

void DistinctUpdate::leave_out(const std::vector<bool>& again) {
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (again[i]) continue;
    kept_ids_.push_back(ids_[i]);
    if (!same_) kept_values_.append(values_.row(i));
  }
  ids_ = kept_ids_;
  if (!same_) values_ = kept_values_.view();
}

std::size_t DistinctUpdate::fitting(std::size_t first, std::size_t most) const {
  most = std::min(most, ids_.size() - first);
  if (same_) return most;
  std::uint64_t bytes = 0;
  for (std::size_t count = 0; count < most; ++count) {
    bytes += values_.row(first + count).size();
    if (count > 0 && bytes > layout::kMostChangeBytes) return count;
  }
  return most;
}

ColumnValues DistinctUpdate::part(std::size_t first, std::size_t count) const {
  return {update_.columns, same_ ? values_ : values_.part(first, count)};
}

void update_all(Changing& index, std::span<const std::uint64_t> ids, const ColumnValues& update,
                const Batches& batches, Receipt& receipt) {
  const DistinctUpdate distinct(ids, update);
  receipt.missing += distinct.repeated();
  in_batches(distinct.ids().size(), index.row_shape().batch_ids, batches,
             [&](std::size_t first, std::size_t count, const Patience& patience) {
               index.update(distinct.ids().subspan(first, count), distinct.part(first, count),
                            patience, receipt);
             });
}

}  // namespace farvec::changes
