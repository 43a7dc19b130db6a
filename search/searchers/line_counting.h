// Counts the cache lines of a search of a graph, in wrappers around its source and scorer. A search
// that does not count runs without them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/memory.h"
#include "search/core/search_core.h"
#include "search/searchers/graph_scorers.h"

namespace farvec::search {

/// A LineTally is where a search's lines are counted.
struct LineTally {
  LineCounts& lines;
  bool remembers = true;  ///< whether the search keeps a set or table of the vertices it has met
};

/// A LineCountingSource is a source that counts the lines of the offsets and records that it is
/// asked for. Records count by their place in their region, to whatever memory they are brought.
/// Borrows.
template <typename Source>
class LineCountingSource {
 public:
  LineCountingSource(Source& source, const GraphIndex& index, const LineTally& tally)
      : source_(source),
        locator_(index.locator()),
        has_table_(layout::needs_offset_table(locator_.geometry().kind)),
        settles_(tally.remembers && index.neighbor_codes() != nullptr),
        lines_(tally.lines) {}

  void pause() { source_.pause(); }

  void expect(NodeId id) {
    lines_.offsets += has_table_ ? 1 : 0;
    source_.expect(id);
  }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    return expand_passing(frontier, std::forward<Visit>(visit), [](NodeId) { return false; });
  }

  template <typename Visit>
  Status expand_together(std::span<const NodeId> ids, Visit&& visit) requires
      requires(Source& source) {
    source.expand_together(ids, visit);
  }
  {
    for (const NodeId id : ids) {
      const layout::Extent extent = locator_.locate(id);
      lines_.records += lines_of(extent.offset, extent.bytes);
    }
    return source_.expand_together(ids, visit);
  }

  template <typename Visit, typename Passed>
  Status expand_passing(std::span<const NodeId> frontier, Visit&& visit, Passed&& passed) {
    for (const NodeId id : frontier) {
      const layout::Extent extent = passed(id) ? locator_.locate_list(id) : locator_.locate(id);
      lines_.records += lines_of(extent.offset, extent.bytes);
    }
    // A search with a table of estimates settles each vertex there.
    if (settles_) lines_.visited += frontier.size();
    return source_.expand_passing(frontier, std::forward<Visit>(visit), passed);
  }

 private:
  Source& source_;
  const layout::GraphLocator& locator_;
  const bool has_table_;
  const bool settles_;
  LineCounts& lines_;
};

/// A LineCountingVertexScorer is a NodeScorer that counts the lines of the codes, and one of the
/// visited set for each vertex that a search meets: it asks for the code and the set together.
struct LineCountingVertexScorer {
  const VertexCodeScorer& scorer;
  LineTally tally;

  void prefetch(NodeId id) const {
    tally.lines.visited += tally.remembers ? 1 : 0;
    scorer.prefetch(id);
  }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    const std::uint64_t bytes = scorer.index.vertex_codes()->record_bytes();
    for (std::size_t i = 0; i < count; ++i) tally.lines.codes += lines_of(ids[i] * bytes, bytes);
    scorer.estimate(ids, count, out);
  }
  float exact(NodeId id, const NodeRecord& record) const { return scorer.exact(id, record); }
};

/// A LineCountingNeighborScorer is a NeighborScorer that counts the lines of the entries' vectors.
/// It also counts one line of the table of estimates for each entry and for each neighbour that is
/// near enough to be looked up there.
struct LineCountingNeighborScorer {
  static constexpr std::uint32_t kBlock = NeighborCodeScorer::kBlock;

  const NeighborCodeScorer& scorer;
  LineTally tally;

  float entry(std::size_t i) const {
    const std::size_t bytes = scorer.index.query_bytes();
    tally.lines.codes += lines_of(i * bytes, bytes);
    ++tally.lines.visited;
    return scorer.entry(i);
  }
  std::uint32_t estimate(const NodeRecord& record, const graph::NeighborBlock& block,
                         float* out) const {
    const std::uint32_t near = scorer.estimate(record, block, out);
    const std::uint32_t left = record.degree - block.number * kBlock;
    const std::uint32_t there = left < kBlock ? (1u << left) - 1 : ~0u;
    tally.lines.visited += static_cast<std::uint64_t>(std::popcount(near & there));
    return near;
  }
  float exact(NodeId id, const NodeRecord& record) const { return scorer.exact(id, record); }
};
static_assert(LineCountingNeighborScorer::kBlock == 32);  // one for each bit of its mask

inline LineCountingVertexScorer counting_lines(const VertexCodeScorer& scorer,
                                               const LineTally& tally) {
  return {scorer, tally};
}
inline LineCountingNeighborScorer counting_lines(const NeighborCodeScorer& scorer,
                                                 const LineTally& tally) {
  return {scorer, tally};
}

}  // namespace farvec::search
