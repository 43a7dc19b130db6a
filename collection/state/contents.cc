#include "collection/state/contents.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace farvec::collection {
namespace {

const std::shared_ptr<const RowSet>& no_rows() {
  static const std::shared_ptr<const RowSet> kNone = std::make_shared<const RowSet>();
  return kNone;
}

Contents::RowOfId numbered(std::span<const std::uint64_t> ids, NodeId first) {
  Contents::RowOfId rows;
  rows.reserve(ids.size());
  for (const std::uint64_t id : ids) rows.emplace(id, first++);
  return rows;
}

/// Moves entries into a map that has room for all of them; those that it has already are replaced.
/// It allocates nothing.
void move_into(Contents::RowOfId& rows, Contents::RowOfId& more) {
  while (!more.empty()) {
    const auto put = rows.insert(more.extract(more.begin()));
    if (!put.inserted) put.position->second = put.node.mapped();
  }
}

/// Inserts the segment by its number: one that took long to build may come after one that was begun
/// later.
void put_in(View& view, View::Bulk bulk) {
  const auto at = std::upper_bound(view.segments.begin(), view.segments.end(), bulk,
                                   [](const View::Bulk& a, const View::Bulk& b) {
                                     return a.segment->number() < b.segment->number();
                                   });
  view.segments.insert(at, std::move(bulk));
}

std::shared_ptr<const RowSet> plus(const RowSet& set, std::span<const NodeId> rows) {
  return std::make_shared<const RowSet>(set.with(rows));
}

std::shared_ptr<const layout::UpdatedTuples> plus(const layout::UpdatedTuples& updates,
                                                  std::span<const NodeId> rows,
                                                  const layout::TupleView& tuples) {
  return std::make_shared<const layout::UpdatedTuples>(updates.with(rows, tuples));
}

PartChanges changes_of(const View& view, const void* part) {
  const PartChanges changes = find_changes(view, part);
  FARVEC_CHECK(changes.out != nullptr, "a part that is to be replaced is not in the view");
  return changes;
}

/// Returns the number of a row among those of a part that the new segment has.
NodeId number_in(const ReplacedPart& replaced, NodeId row) {
  const auto at = std::lower_bound(replaced.rows.begin(), replaced.rows.end(), row);
  FARVEC_CHECK(at != replaced.rows.end() && *at == row, "row {} was not live", row);
  return static_cast<NodeId>(at - replaced.rows.begin());
}

/// Returns the new segment with what has changed of its rows, in the parts that it replaces, since
/// it was begun. Rows that were out before are not in the segment.
View::Bulk changed_since(const Replacement& replacement, const View& now) {
  std::vector<NodeId> out;
  std::vector<NodeId> updated;
  layout::Tuples tuples;
  NodeId first = 0;
  for (const ReplacedPart& replaced : replacement.parts) {
    const PartChanges before = changes_of(*replacement.of, replaced.part);
    const PartChanges after = changes_of(now, replaced.part);
    for (const NodeId row : after.out->rows_beyond(*before.out)) {
      out.push_back(replacement.place(first + number_in(replaced, row)));
    }
    for (const NodeId row : after.updates->rows_beyond(*before.updates)) {
      updated.push_back(replacement.place(first + number_in(replaced, row)));
      tuples.append(after.updates->find(row));
    }
    first += static_cast<NodeId>(replaced.rows.size());
  }
  View::Bulk bulk{replacement.segment, plus({}, out)};
  if (!updated.empty()) bulk.updates = plus({}, updated, tuples.view());
  return bulk;
}

}  // namespace

Contents::Contents(const MemtableOptions& options)
    : options_(options), view_(std::make_shared<const View>()) {}

void Contents::begin(std::vector<View::Bulk> segments, std::uint64_t version,
                     const layout::Schema& schema) {
  FARVEC_CHECK(fresh_.empty() && current()->segments.empty());
  auto view = std::make_shared<View>();
  view->version = version;
  view->schema = std::make_shared<const layout::Schema>(schema);
  view->segments = std::move(segments);
  view_.set(std::move(view));
}

void Contents::rotate(wal::Position log_begin) {
  if (!fresh_.empty() && !holds_rows()) {
    fresh_.back().log_begin = log_begin;
    return;
  }
  auto view = std::make_shared<View>(*current());
  push_memtable(*view, log_begin);
  view_.set(std::move(view));
}

/// What may throw comes before anything changes but the view, which no one else has yet.
void Contents::push_memtable(View& view, wal::Position log_begin) {
  auto memtable = std::make_shared<Memtable>(options_);
  view.memtables.push_back({memtable, 0, no_rows()});
  RowOfId rows;
  rows.reserve(options_.capacity);
  fresh_.push_back({std::move(memtable), log_begin, std::move(rows)});
}

void Contents::set_schema(const layout::Schema& schema) {
  auto view = std::make_shared<View>(*current());
  FARVEC_CHECK(schema.begins_with(*view->schema), "a schema only grows");
  view->schema = std::make_shared<const layout::Schema>(schema);
  const bool ends = !fresh_.empty() && !options_.attributes && !schema.empty();
  const bool empty = !holds_rows();
  options_.attributes = !schema.empty();
  if (ends) {
    // The newest memtable has no room for attributes. Only the newest may be without rows.
    push_memtable(*view, fresh_.back().log_begin);
    if (empty) {
      view->memtables.erase(view->memtables.end() - 2);
      fresh_.erase(fresh_.end() - 2);
    }
  }
  view_.set(std::move(view));
}

std::optional<wal::Position> Contents::log_begin() const {
  // Only the newest can be empty.
  if (fresh_.empty() || fresh_.front().memtable->size() == 0) return std::nullopt;
  return fresh_.front().log_begin;
}

std::vector<std::shared_ptr<Memtable>> Contents::memtables() const {
  std::vector<std::shared_ptr<Memtable>> all;
  for (const Fresh& fresh : fresh_) all.push_back(fresh.memtable);
  return all;
}

std::optional<Contents::RowLocation> Contents::find(const View& view, std::uint64_t id) const {
  for (std::size_t i = fresh_.size(); i-- > 0;) {
    const auto found = fresh_[i].rows.find(id);
    if (found == fresh_[i].rows.end()) continue;
    if (view.memtables[i].out->contains(found->second)) continue;
    return RowLocation{true, i, found->second};
  }
  for (std::size_t i = view.segments.size(); i-- > 0;) {
    const std::optional<NodeId> row = view.segments[i].segment->ids().find(id);
    if (row && !view.segments[i].out->contains(*row)) return RowLocation{false, i, *row};
  }
  return std::nullopt;
}

bool Contents::holds(std::uint64_t id) const {
  return find(*current(), id).has_value();
}

std::uint64_t Contents::put_out(View& view, std::span<const std::uint64_t> ids) const {
  std::vector<std::vector<NodeId>> fresh(view.memtables.size());
  std::vector<std::vector<NodeId>> bulk(view.segments.size());
  std::uint64_t found = 0;
  for (const std::uint64_t id : ids) {
    const std::optional<RowLocation> location = find(view, id);
    if (!location) continue;
    (location->fresh ? fresh : bulk)[location->part].push_back(location->row);
    ++found;
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i].empty()) view.memtables[i].out = plus(*view.memtables[i].out, fresh[i]);
  }
  for (std::size_t i = 0; i < bulk.size(); ++i) {
    if (!bulk[i].empty()) view.segments[i].out = plus(*view.segments[i].out, bulk[i]);
  }
  return found;
}

std::uint64_t Contents::insert(const changes::RowBatch& batch, std::uint64_t version) {
  const auto& [rows, ids, attributes] = batch;
  FARVEC_CHECK(rows.count == ids.size() && ids.size() <= room());
  auto view = std::make_shared<View>(*current());
  const std::uint64_t replaced = put_out(*view, ids);
  Fresh& fresh = fresh_.back();
  const std::uint32_t first = fresh.memtable->size();
  RowOfId more = numbered(ids, first);
  // Nothing after this throws, so that rows, ids and the view change together.
  (void)fresh.memtable->append(rows, ids, attributes);
  move_into(fresh.rows, more);
  view->memtables.back().count = first + static_cast<std::uint32_t>(ids.size());
  view->version = version;
  view_.set(std::move(view));
  return replaced;
}

std::uint64_t Contents::erase(std::span<const std::uint64_t> ids, std::uint64_t version) {
  auto view = std::make_shared<View>(*current());
  const std::uint64_t found = put_out(*view, ids);
  view->version = version;
  view_.set(std::move(view));
  return found;
}

std::uint64_t Contents::update(std::span<const std::uint64_t> ids, const layout::TupleView& tuples,
                               std::uint64_t version) {
  struct Updated {
    std::vector<NodeId> rows;
    layout::Tuples tuples;
  };
  auto view = std::make_shared<View>(*current());
  std::vector<Updated> fresh(view->memtables.size());
  std::vector<Updated> bulk(view->segments.size());
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::optional<RowLocation> location = find(*view, ids[i]);
    if (!location) continue;
    Updated& part = (location->fresh ? fresh : bulk)[location->part];
    part.rows.push_back(location->row);
    part.tuples.append(tuples.row(i));
    ++found;
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const auto& [rows, values] = fresh[i];
    if (rows.empty()) continue;
    view->memtables[i].updates = plus(*view->memtables[i].updates, rows, values.view());
  }
  for (std::size_t i = 0; i < bulk.size(); ++i) {
    const auto& [rows, values] = bulk[i];
    if (rows.empty()) continue;
    view->segments[i].updates = plus(*view->segments[i].updates, rows, values.view());
  }
  view->version = version;
  view_.set(std::move(view));
  return found;
}

std::uint64_t Contents::add(std::shared_ptr<Segment> segment, std::uint64_t version) {
  auto view = std::make_shared<View>(*current());
  const std::uint64_t replaced = put_out(*view, segment->ids().all());
  put_in(*view, {std::move(segment), no_rows()});
  view->version = version;
  view_.set(std::move(view));
  return replaced;
}

void Contents::replace(const Replacement& replacement) {
  const ViewPointer now = current();
  const auto gone = [&](const void* part) {
    return std::any_of(replacement.parts.begin(), replacement.parts.end(),
                       [part](const ReplacedPart& replaced) { return replaced.part == part; });
  };
  auto next = std::make_shared<View>();
  next->version = now->version;
  next->schema = now->schema;
  for (const View::Fresh& fresh : now->memtables) {
    if (!gone(fresh.memtable.get())) next->memtables.push_back(fresh);
  }
  for (const View::Bulk& bulk : now->segments) {
    if (!gone(bulk.segment.get())) next->segments.push_back(bulk);
  }
  if (replacement.segment != nullptr) {
    put_in(*next, changed_since(replacement, *now));
  }
  std::erase_if(fresh_, [&](const Fresh& fresh) { return gone(fresh.memtable.get()); });
  view_.set(std::move(next));
}

}  // namespace farvec::collection
