#include "postgres/engine/shared_vectors.h"

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/stored_form.h"
#include "base/types.h"
#include "changes/batches.h"
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

/// Returns what the list says of vertices that are there.
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
  count();
}

void SharedVectors::count() {
  shares_.store(!table_.is_empty(), std::memory_order_relaxed);
  finds_.store(finder_.has_value(), std::memory_order_relaxed);
  more_rows_.store(
      static_cast<std::int64_t>(table_.aliases()) - static_cast<std::int64_t>(table_.gone()),
      std::memory_order_relaxed);
  bytes_.store(table_.bytes() + (finder_ ? finder_->bytes() : 0), std::memory_order_relaxed);
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

/// Returns those of the rows that have a host with the same vector and values.
std::vector<SharedVectors::Found> SharedVectors::find(const changes::RowBatch& batch,
                                                      std::span<const std::size_t> rows) {
  const bool has_columns = !collection_.view()->schema->empty();
  const StoredVectors vectors(batch, collection_.shape());
  const std::size_t bytes = vectors[0].size();
  std::vector<Found> candidates;
  std::vector<std::uint64_t> hosts;
  for (const std::size_t row : rows) {
    const auto host = finder_->find(vectors[row], tuple_of(batch.attributes, row, has_columns));
    if (!host || !table_.can_add(batch.ids[row], *host)) continue;
    if (std::ranges::find(due_, *host) != due_.end()) continue;
    candidates.push_back({row, *host});
    hosts.push_back(*host);
  }
  const changes::FoundRows there = changes::get_all(
      collection_, hosts, {.patience = {.until = now_ticks() + us_to_ticks(kReadUs)}});
  std::vector<Found> found;
  for (std::size_t i = 0, at = 0; i < candidates.size(); ++i) {
    if (!there.found[i]) continue;
    const std::size_t row = candidates[i].row;
    const bool is_same =
        std::memcmp(there.rows.data() + at * bytes, vectors[row].data(), bytes) == 0 &&
        (!has_columns || std::ranges::equal(there.attributes.view().row(at),
                                            tuple_of(batch.attributes, row, true)));
    if (is_same) found.push_back(candidates[i]);
    ++at;
  }
  return found;
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
    const std::unique_lock reading(reading_);
    for (const Found& one : found) {
      if (table_.bytes_of_next() > table_.bytes() + sharing.more_bytes) break;
      table_.add(batch.ids[one.row], one.host);
      dirty_ = true;
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
      if (!table_.goes(vid)) own.push_back(vid);
    }
  }
  count();
  changes::Receipt receipt;
  if (!own.empty()) collection_.erase(own, {.until = until}, receipt);
}

void SharedVectors::save(Ticks until) {
  const std::lock_guard saving(saving_);
  std::vector<std::uint64_t> idle;
  layout::AliasList list;
  {
    const std::lock_guard lock(changing_);
    if (!dirty_ && due_.empty()) return;
    dirty_ = false;
    // Cores read the table meanwhile, which may be long: nothing that they read changes.
    idle = table_.take_idle();
    list = table_.list();
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
  if (due_.empty()) return;
  dirty_ = true;  // the file names those that have gone
  changes::Receipt receipt;
  collection_.erase(due_, {.until = until}, receipt);
  due_.clear();
}

std::vector<std::uint64_t> SharedVectors::vertices_of(std::span<const std::uint64_t> vids) const {
  std::vector<std::uint64_t> vertices(vids.begin(), vids.end());
  if (!shares_.load(std::memory_order_relaxed)) return vertices;
  const std::shared_lock reading(reading_);
  for (std::uint64_t& vid : vertices) vid = table_.vertex_of(vid);
  return vertices;
}

SharedVectors::Rows SharedVectors::rows_of(std::span<const std::uint64_t> vertices,
                                           std::span<const float> distances,
                                           std::span<std::uint64_t> vids,
                                           std::span<float> of_rows) const {
  Rows rows;
  if (!shares_.load(std::memory_order_relaxed)) {
    rows.count = static_cast<std::uint32_t>(std::min(vertices.size(), vids.size()));
    rows.all = vertices.size();
    std::copy_n(vertices.begin(), rows.count, vids.begin());
    std::copy_n(distances.begin(), rows.count, of_rows.begin());
    return rows;
  }
  const std::shared_lock reading(reading_);
  for (const std::uint64_t vertex : vertices) rows.all += table_.rows_of(vertex);
  const std::size_t share = rows.all <= vids.size() ? vids.size() : vids.size() / vertices.size();
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const std::size_t most = std::min<std::size_t>(share, vids.size() - rows.count);
    table_.for_rows(vertices[i], most, [&](std::uint64_t vid) {
      vids[rows.count] = vid;
      of_rows[rows.count++] = distances[i];
    });
  }
  return rows;
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
