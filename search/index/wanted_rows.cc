#include "search/index/wanted_rows.h"

#include <algorithm>
#include <vector>

#include "base/types.h"
#include "search/index/search_index.h"

namespace farvec::search {
namespace {

constexpr std::uint64_t bit(NodeId row) {
  return std::uint64_t{1} << (row % RowSet::kWordBits);
}

/// The bits of all rows of an index, except for these.
std::vector<std::uint64_t> all_but(std::span<const NodeId> rows, std::size_t count) {
  std::vector<std::uint64_t> words((count + RowSet::kWordBits - 1) / RowSet::kWordBits,
                                   ~std::uint64_t{0});
  if (count % RowSet::kWordBits != 0) words.back() = bit(static_cast<NodeId>(count)) - 1;
  for (const NodeId row : rows) words[row / RowSet::kWordBits] &= ~bit(row);
  return words;
}

/// Null where a vertex has the number of its row, and where it is not known which has which.
const RowVertices* known_vertices(const SearchIndex& index) {
  const RowVertices* const vertices =
      index.graph() == nullptr ? nullptr : index.graph()->row_vertices();
  return vertices != nullptr && vertices->known() && vertices->check().ok() ? vertices : nullptr;
}

/// The vertices of the rows whose bits are set in `rows`.
RowSet vertices_of(std::span<const std::uint64_t> rows, const SearchIndex& index) {
  const RowVertices* const vertices = known_vertices(index);
  if (vertices == nullptr) return {};
  std::vector<std::uint64_t> words(rows.size());
  for (NodeId row = 0; row < index.count(); ++row) {
    if ((rows[row / RowSet::kWordBits] & bit(row)) == 0) continue;
    const NodeId vertex = vertices->vertex_of(row);
    words[vertex / RowSet::kWordBits] |= bit(vertex);
  }
  return RowSet::from_words(words);
}

}  // namespace

WantedPointer WantedCache::kept(const attributes::MatchCache::Rows& matches,
                                const std::shared_ptr<const RowSet>& out) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const WantedPointer& wanted) {
    return wanted->matches == matches && wanted->out == out;
  });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front();
}

WantedPointer WantedCache::rows_of(const attributes::MatchCache::Rows& matches,
                                   const std::shared_ptr<const RowSet>& out,
                                   const SearchIndex& index) {
  if (WantedPointer known = kept(matches, out); known != nullptr) return known;
  const ClusterIndex* const clusters = index.clusters();
  std::vector<NodeId> rows;
  attributes::list_rows(*matches, rows);
  if (!out->empty()) std::erase_if(rows, [&](NodeId row) { return out->contains(row); });
  const std::vector<std::uint64_t> others = all_but(rows, index.count());
  auto wanted = std::make_shared<const WantedRows>(
      WantedRows{matches, out, rows.size(), RowSet::from_words(others), vertices_of(others, index),
                 clusters == nullptr ? std::nullopt : clusters->matches(rows)});
  const std::lock_guard lock(mutex_);
  kept_.push_front(wanted);
  if (kept_.size() > kMost) kept_.pop_back();
  return wanted;
}

std::size_t WantedCache::dram_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const WantedPointer& wanted : kept_) {
    bytes += wanted->others.dram_bytes() + wanted->other_vertices.dram_bytes();
    if (wanted->by_cluster) bytes += wanted->by_cluster->dram_bytes();
  }
  return bytes;
}

}  // namespace farvec::search
