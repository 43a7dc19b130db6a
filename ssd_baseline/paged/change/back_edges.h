// BackEdges are the edges that lead back to a vertex from the neighbours that it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/hnsw/select_neighbors.h"
#include "ssd_baseline/paged/change/lost_vertices.h"
#include "ssd_baseline/paged/change/neighbor_finder.h"
#include "ssd_baseline/paged/graph/gathered_vectors.h"
#include "ssd_baseline/paged/graph/pinned_pages.h"

namespace farvec::paged {

struct BackEdge {
  static constexpr std::uint32_t kRefused = 0xffffffff;

  graph::Candidate target;  ///< with its distance to the new vertex
  std::uint32_t layer = 0;
  bool planned = false;               ///< the members below say what plan() found
  bool full = false;                  ///< all places of the list name other vertices
  bool named = false;                 ///< the list names the vertex already
  std::uint32_t index = kRefused;     ///< the place of the target's list that takes the new vertex
  std::uint32_t farthest = kRefused;  ///< the place of the farthest member that may be given up
  std::uint32_t list = 0;             ///< where BackEdges::bytes_ has the list as it was read
};

/// Returns, within an update, whether a neighbour that was chosen is still the same vertex, is on
/// that layer, and is not marked. Its page must be pinned.
bool is_alive(const layout::HnswShape& shape, const PageEditor& editor, const PinnedPages& pins,
              const graph::Candidate& neighbor, std::uint32_t layer);

/// Decides which lists take a vertex that is new, or that was given new neighbours, by the same
/// selection that made them.
class BackEdges {
 public:
  BackEdges(PagedHnsw& hnsw, NeighborFinder& finder)
      : hnsw_(hnsw), finder_(finder), members_(finder.reader()) {}

  /// Begins with an edge from each neighbour that the finder has chosen; none is planned.
  void begin(std::uint32_t level);

  /// Plans the edges that are not planned: reads their lists, several at once, and for the full
  /// lists the vectors of all vertices that they name. It is called from inside a fiber.
  struct Newcomer {
    NodeId id = 0;
    const std::byte* vector = nullptr;
    graph::Handle self = graph::kNoHandle;  ///< lists that name it already do not take it again
    /// Some list of layer 0 is to name it: where the selection of none takes it, the nearest
    /// neighbour gives up the farthest of its own.
    bool needs_edge = false;
    /// Where this is given, a list of layer 0 gives up only a neighbour that another one names.
    const LostVertices* lost = nullptr;
  };
  Status plan(const Newcomer& newcomer, Ticks deadline);
  /// Adds the pages of all targets to the wanted ones.
  void want_pages(PinnedPages& pins) const;

  /// Looks, within an update, whether the lists are as they were when they were planned, and
  /// refuses edges whose target is marked or gone. A list that has changed takes the vertex all the
  /// same when it still has a free place, or with `give_up` when the neighbour that was to go still
  /// has the place that was chosen. Edges of other lists that have changed become unplanned, or
  /// with `give_up` are refused. Returns how many these are.
  std::uint32_t look_again(const PageEditor& editor, const PinnedPages& pins, bool give_up);
  /// Returns, after plan() or look_again(), whether some list of layer 0 takes the vertex or names
  /// it already.
  bool leads_back() const;
  /// Calls drop(place) for every member that a list of layer 0 gives up; after look_again().
  template <typename Drop>
  void each_dropped(Drop&& drop) const {
    for (const BackEdge& edge : edges_) {
      if (edge.layer > 0 || !edge.full || edge.index == BackEdge::kRefused) continue;
      drop(member_place(edge, edge.index));
    }
  }
  /// Returns whether some list of layer 0 names the vertex already.
  bool is_named() const;
  /// Writes, after look_again(), the place into the lists that take it; counts them in `made`.
  Status link(PageEditor& editor, const PinnedPages& pins, layout::HnswPlace place,
              std::uint32_t& made) const;

  std::size_t dram_bytes() const {
    return members_.dram_bytes() + bytes_.capacity() + edges_.capacity() * sizeof(BackEdge);
  }

 private:
  /// The most lists whose members are in DRAM at the same time.
  static constexpr std::size_t kListsAtOnce = 16;

  Status plan_some(std::span<BackEdge* const> some, const Newcomer& newcomer, Ticks deadline);
  Status read_lists(std::span<BackEdge* const> some, Ticks deadline);
  /// Returns the bytes of the target's list as plan() read it.
  std::span<const std::byte> list(const BackEdge& edge) const {
    return {&bytes_[edge.list], layout::HnswPlace::kBytes * hnsw_.shape().degree(edge.layer)};
  }
  layout::HnswPlace member_place(const BackEdge& edge, std::uint32_t index) const {
    return layout::load_place(&list(edge)[std::size_t{index} * layout::HnswPlace::kBytes]);
  }
  void choose(BackEdge& edge, const Newcomer& newcomer);
  std::uint32_t farthest_of(const BackEdge& edge, const LostVertices* lost) const;
  bool may_give_up(const BackEdge& edge, std::uint32_t index, const LostVertices* lost) const;
  void take_in_nearest();
  bool still_takes(BackEdge& edge, const layout::HnswVertex& vertex, bool give_up) const;
  const GatheredVectors::Entry* member(graph::Handle handle, const std::byte** row) const;

  PagedHnsw& hnsw_;
  NeighborFinder& finder_;
  GatheredVectors members_;  ///< members of lists that the finder does not have
  std::vector<BackEdge> edges_;
  std::vector<std::byte> bytes_;
  graph::Handle self_ = graph::kNoHandle;  ///< the vertex, if it is in the graph already
  std::vector<graph::Handle> handles_;
  std::vector<graph::Candidate> pool_;  ///< handle: the place in the list, or kNoHandle
  std::vector<std::pair<graph::Candidate, const std::byte*>> sorted_;
  std::vector<const std::byte*> rows_;
  graph::Selection selection_;
};

}  // namespace farvec::paged
