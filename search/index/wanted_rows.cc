#include "search/index/wanted_rows.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "attributes/row_words.h"
#include "base/types.h"
#include "search/index/search_index.h"

namespace farvec::search {
namespace {

constexpr std::uint64_t bit(NodeId row) {
  return std::uint64_t{1} << (row % RowSet::kWordBits);
}

/// Returns the bits of the rows of an index that match and are not out.
std::vector<std::uint64_t> wanted_words(const attributes::RowBitmap& matches, const RowSet& out,
                                        std::size_t rows) {
  std::vector<std::uint64_t> words = attributes::words_of(matches, rows);
  if (out.empty()) return words;
  const std::vector<std::uint64_t> gone = out.to_words(rows);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] &= ~gone[i];
  return words;
}

/// Turns the bits of some rows into those of all others.
void complement(std::vector<std::uint64_t>& words, std::size_t rows) {
  for (std::uint64_t& word : words) word = ~word;
  if (rows % RowSet::kWordBits != 0) words.back() &= bit(static_cast<NodeId>(rows)) - 1;
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
  std::vector<std::uint64_t> words = wanted_words(*matches, *out, index.count());
  std::optional<cluster::ClusterMatches> by_cluster;
  if (clusters != nullptr) {
    by_cluster = clusters->matches(RowSet::from_words(words).rows_beyond(RowSet()));
  }
  complement(words, index.count());
  RowSet others = RowSet::from_words(words);
  const std::uint64_t count = index.count() - others.count();
  auto wanted = std::make_shared<const WantedRows>(WantedRows{
      matches, out, count, std::move(others), vertices_of(words, index), std::move(by_cluster)});
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
