// A Writer gives rows new attributes, and leaves their vectors where they are.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/status_error.h"
#include "collection/write/writer.h"
#include "layout/collection/change_record.h"

namespace farvec::collection {
namespace {

/// Rows whose new attributes are in memory at once: at most 16 MiB.
constexpr std::size_t kRowsAtOnce = 256;

/// Appends the tuple that a row has after the update. `before` is its tuple.
void append_updated(const layout::Schema& schema, const layout::Tuples& before,
                    const NewValues& values, std::uint64_t id, std::size_t value,
                    layout::Tuples& tuples) {
  try {
    layout::append_with_columns(schema, before.view().row(0), values.columns,
                                values.tuples.view().row(value), tuples);
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "the row of id {}: {}", id, error.what());
  }
}

}  // namespace

Status Writer::update(std::span<const std::uint64_t> ids, const NewValues& values,
                      const changes::Patience& patience, changes::Receipt& receipt) {
  const bool one_for_all = values.tuples.count() == 1;
  std::vector<UpdatedRow> rows;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    rows.push_back({.id = ids[i], .value = one_for_all ? 0 : i});
  }
  // The first of equal ids holds.
  const auto less = [](const UpdatedRow& a, const UpdatedRow& b) { return a.id < b.id; };
  const auto equal = [](const UpdatedRow& a, const UpdatedRow& b) { return a.id == b.id; };
  std::stable_sort(rows.begin(), rows.end(), less);
  rows.erase(std::unique(rows.begin(), rows.end(), equal), rows.end());
  receipt.missing += ids.size() - rows.size();
  RowsChange change{.patience = patience, .receipt = receipt};
  return ended(change, [&] { update_ids(std::move(rows), values, change); });
}

/// Rows ascend by their ids, and their places are not known.
void Writer::update_ids(std::vector<UpdatedRow> rows, const NewValues& values, RowsChange& change) {
  while (change.status.ok() && !rows.empty()) {
    change.moved.clear();
    for (std::size_t next = 0; change.status.ok() && next < rows.size(); next += kRowsAtOnce) {
      const auto some = std::span(rows).subspan(next, std::min(kRowsAtOnce, rows.size() - next));
      ViewPointer view;
      update_rows(find_rows(some, change, view), values, change);
    }
    std::sort(change.moved.begin(), change.moved.end());
    std::erase_if(rows, [&](const UpdatedRow& row) {
      return !std::binary_search(change.moved.begin(), change.moved.end(), row.id);
    });
    if (!rows.empty()) change.end_when_late();
  }
}

/// Returns the wanted rows that are in `view`, which it sets, with their places.
std::vector<Writer::UpdatedRow> Writer::find_rows(std::span<const UpdatedRow> wanted,
                                                  RowsChange& change, ViewPointer& view) const {
  std::vector<std::uint64_t> ids;
  for (const UpdatedRow& row : wanted) ids.push_back(row.id);
  Found found = find(ids, change.patience.interrupted);
  view = std::move(found.view);
  std::vector<UpdatedRow> rows;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& location = found.locations[i];
    if (location) rows.push_back({wanted[i].id, location->in(*view), wanted[i].value});
  }
  change.receipt.missing += wanted.size() - rows.size();
  return rows;
}

void Writer::update_part(const MatchingRows& part, const NewValues& values, RowsChange& change) {
  for (std::size_t next = 0; change.status.ok() && next < part.rows.size(); next += kRowsAtOnce) {
    if (asked_to_end(change.patience.interrupted)) throw WorkInterrupted();
    std::vector<UpdatedRow> rows;
    for (std::size_t i = next; i < std::min(next + kRowsAtOnce, part.rows.size()); ++i) {
      rows.push_back({part.id(part.rows[i]), part.place(part.rows[i]), 0});
    }
    update_rows(rows, values, change);
  }
}

/// Reads the attributes of rows without the lock, and updates those that still have them. Rows that
/// have the new values already are done: so a call that is repeated goes on where it ended.
void Writer::update_rows(std::span<const UpdatedRow> rows, const NewValues& values,
                         RowsChange& change) {
  change.end_when_late();
  if (!change.status.ok()) return;
  const std::shared_ptr<const layout::Schema> schema = view()->schema;
  std::vector<UpdatedRow> others;
  layout::Tuples tuples;
  for (const UpdatedRow& row : rows) {
    layout::Tuples before;
    row.place.append_attributes(before);
    layout::Tuples after;
    append_updated(*schema, before, values, row.id, row.value, after);
    if (before.bytes == after.bytes) {
      ++change.receipt.done;
    } else {
      others.push_back(row);
      tuples.append(after.view());
    }
  }
  if (others.size() < rows.size()) note_unchanged(change);
  for (std::size_t next = 0; change.status.ok() && next < others.size();) {
    const layout::TupleView rest = tuples.view().part(next, others.size() - next);
    const std::size_t count = layout::changes_per_record(0, rest);
    log_update(std::span(others).subspan(next, count), rest.part(0, count), change);
    next += count;
  }
}

/// Rows have the new values already: what brought them may not be durable yet, and never is where
/// the log has ended.
void Writer::note_unchanged(RowsChange& change) {
  const Lock lock = this->lock();
  change.end = std::max(change.end, log_->end());
  const Status failure = log_->failure();
  if (!failure.ok()) change.status = {StatusCode::unavailable, failure.message()};
}

/// Updates the rows that are where they were and as they were.
void Writer::log_update(std::span<const UpdatedRow> rows, const layout::TupleView& tuples,
                        RowsChange& change) {
  std::vector<std::uint64_t> ids;
  std::vector<std::uint64_t> moved;
  layout::Tuples kept;
  Lock lock = this->lock();
  const Result<wal::Position> appended =
      log_unless_paused(lock, change.patience.until, [&]() -> Result<wal::Position> {
        const ViewPointer now = view();
        ids.clear();
        moved.clear();
        kept = {};
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const bool unchanged = is_unchanged(*now, rows[i].place);
          (unchanged ? ids : moved).push_back(rows[i].id);
          if (unchanged) kept.append(tuples.row(i));
        }
        if (ids.empty()) return change.end;
        return append(layout::RowChangeRecord::update(version_ + 1, ids, kept.view()));
      });
  change.status = appended.status();
  if (!change.status.ok()) return;
  change.moved.insert(change.moved.end(), moved.begin(), moved.end());
  if (ids.empty()) return;
  change.end = appended.value();
  version_ += ids.size();
  change.receipt.version = version_;
  change.receipt.done += contents_.update(ids, kept.view(), version_);
  monitor_.work.notify_all();
}

}  // namespace farvec::collection
