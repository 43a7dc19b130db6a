#include "postgres/engine/shared_vectors.h"

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/stored_form.h"
#include "base/types.h"
#include "changes/batches.h"
#include "changes/distinct_update.h"
#include "collection/state/kept_rows.h"
#include <algorithm>
#include <cstring>
#include <exception>
#include <unordered_set>
#include <utility>

namespace farvec::postgres {
namespace {

/// The finder looks at this many rows of the collection for each row whose vector is probably
/// there. Linking a row takes longer than looking at them.
constexpr std::size_t kLooksForEach = 16;
constexpr std::size_t kLeastLooks = 4096;
/// Rows that the finder knows and that are out are forgotten where they are as many as others.
constexpr std::size_t kMostStale = 65'536;
constexpr double kReadUs = 10e6;
/// Conditions whose vertices are known until the next change.
constexpr std::size_t kMostAsked = 8;
/// Vertices that are given other values by one save().
constexpr std::size_t kMostEvened = 4096;

std::span<const std::byte> tuple_of(const layout::TupleView& tuples, std::size_t row, bool has) {
  if (!has) return {};
  return tuples.count() == 0 ? layout::null_tuple() : tuples.row(row);
}

/// Vectors of a batch in the form in which they are stored. They are copied where that is another
/// one. The batch was checked.
class StoredVectors {
 public:
  StoredVectors(const changes::RowBatch& batch, const layout::CollectionManifest& shape)
      : rows_(batch.rows) {
    if (rows_.type == shape.stored_type && !stores_unit_vectors(shape.metric)) return;
    kept_.emplace(collection::kept_copy(rows_, shape, 1));
    rows_ = kept_->view();
  }

  std::span<const std::byte> operator[](std::size_t row) const {
    return {rows_.row(row), rows_.row_bytes()};
  }

 private:
  VectorView rows_;
  std::optional<dataset::VectorSet> kept_;
};

std::unordered_set<std::uint64_t> fresh_ids(const collection::View& view) {
  std::unordered_set<std::uint64_t> ids;
  for (const collection::View::Fresh& fresh : view.memtables) {
    for (NodeId row = 0; row < fresh.count; ++row) {
      if (!fresh.out->contains(row)) ids.insert(fresh.memtable->id(row));
    }
  }
  return ids;
}

bool is_in_segment(const collection::View& view, std::uint64_t id) {
  return std::ranges::any_of(view.segments, [&](const collection::View::Bulk& bulk) {
    const std::optional<NodeId> row = bulk.segment->ids().find(id);
    return row && !bulk.out->contains(*row);
  });
}

/// Returns what the list says of vertices that are there, without the values.
layout::AliasList with_vertices(const layout::AliasList& list, const collection::View& view) {
  if (list.aliases.empty() && list.gone.empty()) return {};
  const std::unordered_set<std::uint64_t> fresh = fresh_ids(view);
  const auto is_there = [&](std::uint64_t host) {
    return fresh.contains(host) || is_in_segment(view, host);
  };
  layout::AliasList kept;
  for (const layout::Alias& alias : list.aliases) {
    if (is_there(alias.host)) kept.aliases.push_back(alias);
  }
  for (const std::uint64_t host : list.gone) {
    if (is_there(host)) kept.gone.push_back(host);
  }
  return kept;
}

}  // namespace

SharedVectors::SharedVectors(Parts parts)
    : folder_(std::move(parts.folder)),
      name_(to_string(parts.name)),
      collection_(parts.collection) {
  const layout::AliasList kept = with_vertices(parts.list, *collection_.view());
  table_.take(kept, AliasTable::kNone);
  dirty_ =
      kept.aliases.size() != parts.list.aliases.size() ||
      kept.gone.size() != parts.list.gone.size() ||
      std::ranges::any_of(kept.gone, [&](std::uint64_t host) { return table_.rows_of(host) == 0; });
  take_own(parts.list.own);
  count();
}

/// Leaves out values that are those of the vertices too, as they were opened: these are durable.
void SharedVectors::take_own(const layout::OwnTuples& own) {
  if (own.ids.empty()) return;
  const collection::ViewPointer view = collection_.view();
  layout::check_tuples(own.tuples.view(), *view->schema, "values of rows that share vectors");
  std::vector<std::uint64_t> hosts;
  for (const std::uint64_t vid : own.ids) hosts.push_back(table_.host_of(vid));
  const changes::FoundRows there = changes::get_all(
      collection_, hosts, {.patience = {.until = now_ticks() + us_to_ticks(kReadUs)}});
  for (std::size_t i = 0, at = 0; i < hosts.size(); ++i) {
    if (!there.found[i]) continue;  // it is lost, and its rows with it
    const std::span<const std::byte> tuple = own.tuples.view().row(i);
    const bool differs = !std::ranges::equal(there.attributes.view().row(at++), tuple);
    if (hosts[i] == own.ids[i] || !differs) continue;
    own_.add(own.ids[i], hosts[i], tuple, true);
    uneven_.push_back(hosts[i]);
  }
}

void SharedVectors::count() {
  shares_.store(!table_.is_empty(), std::memory_order_relaxed);
  differs_.store(own_.differing() > 0, std::memory_order_relaxed);
  finds_.store(finder_.has_value(), std::memory_order_relaxed);
  more_rows_.store(
      static_cast<std::int64_t>(table_.aliases()) - static_cast<std::int64_t>(table_.gone()),
      std::memory_order_relaxed);
  bytes_.store(table_.bytes() + own_.bytes() + (finder_ ? finder_->bytes() : 0),
               std::memory_order_relaxed);
}

void SharedVectors::begin_finding(std::size_t rows, const Sharing& sharing) {
  const collection::ViewPointer view = collection_.view();
  if (finder_ && finder_->size() > 2 * view->live() + kMostStale) finder_.reset();
  if (!finder_) {
    const layout::CollectionManifest& shape = collection_.shape();
    finder_.emplace(view, packed_bytes(shape.stored_type, shape.dimension));
  }
  finder_->advance(std::max(kLooksForEach * rows, kLeastLooks), sharing.more_bytes);
}

/// Returns those of the rows for which the finder knows a host, one with the same values where
/// there is one. Nothing was compared.
std::vector<SharedVectors::Found> SharedVectors::candidates(const changes::RowBatch& batch,
                                                            std::span<const std::size_t> rows) {
  const bool has_columns = !collection_.view()->schema->empty();
  const StoredVectors vectors(batch, collection_.shape());
  const auto can_be = [&](const std::optional<std::uint64_t>& host, std::size_t row) {
    return host && table_.can_add(batch.ids[row], *host) &&
           std::ranges::find(due_, *host) == due_.end();
  };
  std::vector<Found> found;
  for (const std::size_t row : rows) {
    auto host = finder_->find(vectors[row], tuple_of(batch.attributes, row, has_columns));
    if (has_columns && !can_be(host, row)) host = finder_->find(vectors[row], {});
    if (can_be(host, row)) found.push_back({.row = row, .host = *host});
  }
  return found;
}

/// Returns those of the rows that have a host with the same vector.
std::vector<SharedVectors::Found> SharedVectors::find(const changes::RowBatch& batch,
                                                      std::span<const std::size_t> rows) {
  const bool has_columns = !collection_.view()->schema->empty();
  const StoredVectors vectors(batch, collection_.shape());
  const std::size_t bytes = vectors[0].size();
  const std::vector<Found> known = candidates(batch, rows);
  std::vector<std::uint64_t> hosts;
  for (const Found& one : known) hosts.push_back(one.host);
  const changes::FoundRows there = changes::get_all(
      collection_, hosts, {.patience = {.until = now_ticks() + us_to_ticks(kReadUs)}});
  std::vector<Found> found;
  for (std::size_t i = 0, at = 0; i < known.size(); ++i) {
    if (!there.found[i]) continue;
    const std::size_t row = known[i].row;
    if (std::memcmp(there.rows.data() + at * bytes, vectors[row].data(), bytes) == 0) {
      const bool differs =
          has_columns && !std::ranges::equal(there.attributes.view().row(at),
                                             tuple_of(batch.attributes, row, true));
      found.push_back({.row = row, .host = known[i].host, .differs = differs});
    }
    ++at;
  }
  return found;
}

/// Returns false where it would take too much. The values of a host that has gone are perhaps not
/// durable, so that its aliases keep theirs.
bool SharedVectors::add(std::uint64_t vid, const Found& found, std::span<const std::byte> tuple,
                        std::size_t more_bytes) {
  const bool keeps = !tuple.empty() && (found.differs || table_.has_gone(found.host));
  const std::size_t next =
      table_.bytes_of_next() + (keeps ? own_.bytes_of_next(tuple.size()) : own_.bytes());
  if (next > table_.bytes() + own_.bytes() + more_bytes) return false;
  if (found.differs && own_.differing() >= kMostDiffering) return false;
  table_.add(vid, found.host);
  if (keeps) own_.add(vid, found.host, tuple, found.differs);
  dirty_ = true;
  return true;
}

std::optional<std::vector<std::size_t>> SharedVectors::take(const changes::RowBatch& batch,
                                                            const Sharing& sharing) {
  if (!sharing.expected && !shares_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::lock_guard lock(changing_);
  std::vector<std::size_t> left;
  {
    const std::unique_lock reading(reading_);
    for (std::size_t row = 0; row < batch.ids.size(); ++row) {
      if (table_.comes(batch.ids[row])) {
        dirty_ = true;
      } else {
        left.push_back(row);
      }
    }
  }
  if (sharing.expected && !left.empty()) {
    std::vector<Found> found;
    try {
      begin_finding(left.size(), sharing);
      found = find(batch, left);
    } catch (const std::exception& error) {
      // Each row can have a vertex of its own.
      if (!std::exchange(warned_, true)) {
        spdlog::warn("updated rows of index {} are inserted again: {}", name_, error.what());
      }
    }
    const bool has_columns = !collection_.view()->schema->empty();
    const std::unique_lock reading(reading_);
    for (const Found& one : found) {
      const std::span<const std::byte> tuple = tuple_of(batch.attributes, one.row, has_columns);
      if (!add(batch.ids[one.row], one, tuple, sharing.more_bytes)) break;
    }
    std::erase_if(left, [&](std::size_t row) {
      const std::uint64_t vertex = table_.vertex_of(batch.ids[row]);
      return vertex != batch.ids[row] && vertex != AliasTable::kNone;
    });
  }
  count();
  if (left.size() == batch.ids.size()) return std::nullopt;
  return left;
}

void SharedVectors::inserted(const changes::RowBatch& batch, const Sharing& sharing) {
  if (!finds_.load(std::memory_order_relaxed)) return;
  const StoredVectors vectors(batch, collection_.shape());
  const std::lock_guard lock(changing_);
  if (!finder_) return;
  const bool has_columns = !collection_.view()->schema->empty();
  for (std::size_t row = 0; row < batch.ids.size(); ++row) {
    finder_->add(vectors[row], tuple_of(batch.attributes, row, has_columns), batch.ids[row],
                 sharing.more_bytes);
  }
  count();
}

void SharedVectors::erase(std::span<const std::uint64_t> vids, Ticks until) {
  const std::lock_guard lock(changing_);
  std::vector<std::uint64_t> own;
  {
    const std::unique_lock reading(reading_);
    for (const std::uint64_t vid : vids) {
      dirty_ = dirty_ || table_.knows(vid);
      const std::uint64_t host = table_.host_of(vid);
      own_.erase(vid);
      if (!table_.goes(vid)) own.push_back(vid);
      if (own_.differing_from(host) > 0) uneven_.push_back(host);
    }
  }
  count();
  changes::Receipt receipt;
  if (!own.empty()) collection_.erase(own, {.until = until}, receipt);
}

/// Gives vertices whose values no row has any more those of the row that came last. Until that is
/// durable the file has the values of each such row. Returns whether it gave some.
bool SharedVectors::even_out(Ticks until) {
  std::sort(uneven_.begin(), uneven_.end());
  uneven_.erase(std::unique(uneven_.begin(), uneven_.end()), uneven_.end());
  std::erase_if(uneven_, [&](std::uint64_t host) {
    const std::uint64_t differing = own_.differing_from(host);
    return differing == 0 || differing < table_.rows_of(host);
  });
  if (uneven_.empty()) return false;
  const std::size_t some = std::min(uneven_.size(), kMostEvened);
  try {
    give_values(std::span(uneven_).first(some), until);
  } catch (const std::exception& error) {
    // Searches go on to ask each row.
    if (!std::exchange(warned_of_values_, true)) {
      spdlog::warn("updated rows of index {} keep values of their own: {}", name_, error.what());
    }
    return true;
  }
  uneven_.erase(uneven_.begin(), uneven_.begin() + static_cast<std::ptrdiff_t>(some));
  return true;
}

void SharedVectors::give_values(std::span<const std::uint64_t> hosts, Ticks until) {
  layout::Tuples tuples;
  for (const std::uint64_t host : hosts) {
    table_.for_rows(host, 1, [&](std::uint64_t vid) { tuples.append(own_.find(vid)); });
  }
  changes::ColumnValues values{.columns = {}, .values = tuples.view()};
  for (const layout::Column& column : collection_.view()->schema->columns()) {
    values.columns.push_back(column.name);
  }
  changes::Receipt receipt;
  changes::update_all(collection_, hosts, values, {.patience = {.until = until}}, receipt);
  const std::unique_lock reading(reading_);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    table_.for_rows(hosts[i], table_.rows_of(hosts[i]),
                    [&](std::uint64_t vid) { own_.vertex_has(vid, tuples.view().row(i)); });
  }
}

bool SharedVectors::save(Ticks until) {
  const std::lock_guard saving(saving_);
  std::vector<std::uint64_t> idle;
  layout::AliasList list;
  bool changed = false;
  {
    const std::lock_guard lock(changing_);
    changed = even_out(until);
    count();
    if (!dirty_ && due_.empty()) return changed;
    dirty_ = false;
    // Cores read the table meanwhile, which may be long: nothing that they read changes.
    idle = table_.take_idle();
    list = list_now();
  }
  try {
    layout::write_aliases(folder_, name_, list);
  } catch (...) {
    const std::lock_guard lock(changing_);
    table_.give_back(idle);
    dirty_ = true;
    throw;
  }
  const std::lock_guard lock(changing_);
  {
    const std::unique_lock reading(reading_);
    for (const std::uint64_t host : idle) {
      if (table_.forget(host)) due_.push_back(host);
    }
  }
  count();
  if (due_.empty()) return changed;
  dirty_ = true;  // the file names those that have gone
  changes::Receipt receipt;
  collection_.erase(due_, {.until = until}, receipt);
  due_.clear();
  return true;
}

std::vector<std::uint64_t> SharedVectors::vertices_of(std::span<const std::uint64_t> vids) const {
  std::vector<std::uint64_t> vertices(vids.begin(), vids.end());
  if (!shares_.load(std::memory_order_relaxed)) return vertices;
  const std::shared_lock reading(reading_);
  for (std::uint64_t& vid : vertices) vid = table_.vertex_of(vid);
  return vertices;
}

std::vector<std::uint64_t> SharedVectors::find_hosts(const attributes::Condition& condition) const {
  std::vector<std::uint64_t> hosts;
  own_.for_differing([&](std::uint64_t vid, std::uint64_t host, std::span<const std::byte> tuple) {
    if (evaluate(condition, layout::Tuple(tuple), vid) == attributes::Truth::yes) {
      hosts.push_back(host);
    }
  });
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

/// A search that asks for vertices alone would miss those whose values are not their rows'.
std::shared_ptr<const SharedVectors::Hosts> SharedVectors::hosts_for(
    const attributes::ConditionPointer& condition) const {
  static std::atomic<std::uint64_t> last_number{0};
  if (!differs_.load(std::memory_order_relaxed)) return nullptr;
  const std::shared_lock reading(reading_);
  {
    const std::lock_guard lock(asking_);
    for (const Asked& asked : asked_) {
      if (asked.changes == own_.changes() && *asked.condition == *condition) return asked.hosts;
    }
  }
  auto hosts = std::make_shared<const Hosts>(
      Hosts{find_hosts(*condition), last_number.fetch_add(1, std::memory_order_relaxed) + 1});
  const std::lock_guard lock(asking_);
  asked_.push_front({condition, own_.changes(), hosts});
  if (asked_.size() > kMostAsked) asked_.pop_back();
  return hosts;
}

/// Says whether a row may be a result. One without values of its own may.
bool SharedVectors::meets(const attributes::Condition* condition, std::uint64_t vid) const {
  if (condition == nullptr) return true;
  const std::span<const std::byte> own = own_.find(vid);
  return own.empty() || evaluate(*condition, layout::Tuple(own), vid) == attributes::Truth::yes;
}

SharedVectors::Rows SharedVectors::rows_of(const Vertices& vertices, std::span<std::uint64_t> vids,
                                           std::span<float> of_rows) const {
  const std::size_t found = vertices.ids.size();
  Rows rows;
  if (!shares_.load(std::memory_order_relaxed)) {
    rows.count = static_cast<std::uint32_t>(std::min(found, vids.size()));
    rows.all = found;
    std::copy_n(vertices.ids.begin(), rows.count, vids.begin());
    std::copy_n(vertices.distances.begin(), rows.count, of_rows.begin());
    return rows;
  }
  const std::shared_lock reading(reading_);
  for (const std::uint64_t vertex : vertices.ids) rows.all += table_.rows_of(vertex);
  const std::size_t share = rows.all <= vids.size() ? vids.size() : vids.size() / found;
  for (std::size_t i = 0; i < found; ++i) {
    const std::size_t most = std::min<std::size_t>(share, vids.size() - rows.count);
    table_.for_rows(vertices.ids[i], most, [&](std::uint64_t vid) {
      if (!meets(vertices.condition, vid)) {
        --rows.all;
        return;
      }
      vids[rows.count] = vid;
      of_rows[rows.count++] = vertices.distances[i];
    });
  }
  return rows;
}

void SharedVectors::put_own_values(std::span<const std::uint64_t> vids,
                                   changes::FoundRows& rows) const {
  if (!differs_.load(std::memory_order_relaxed)) return;
  const std::shared_lock reading(reading_);
  layout::Tuples values;
  for (std::size_t i = 0, at = 0; i < vids.size(); ++i) {
    if (!rows.found[i]) continue;
    const std::span<const std::byte> own = own_.find(vids[i]);
    values.append(own.empty() ? rows.attributes.view().row(at) : own);
    ++at;
  }
  rows.attributes = std::move(values);
}

layout::AliasList SharedVectors::list_now() const {
  layout::AliasList list = table_.list();
  list.own = own_.list();
  return list;
}

layout::AliasList SharedVectors::list() const {
  if (!shares_.load(std::memory_order_relaxed)) return {};
  const std::shared_lock reading(reading_);
  return table_.list();
}

bool SharedVectors::forget_vectors() {
  const std::lock_guard lock(changing_);
  const bool had = finder_.has_value();
  finder_.reset();
  count();
  return had;
}

}  // namespace farvec::postgres
