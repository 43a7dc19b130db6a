// BackEdges are the edges that lead back to a vertex from the neighbours that it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/hnsw/select_neighbors.h"
#include "ssd_baseline/paged/change/neighbor_finder.h"
#include "ssd_baseline/paged/graph/gathered_vectors.h"
#include "ssd_baseline/paged/graph/pinned_pages.h"

namespace farvec::paged {

struct BackEdge {
  static constexpr std::uint32_t kRefused = 0xffffffff;

  graph::Candidate target;  ///< with its distance to the new vertex
  std::uint32_t layer = 0;
  bool planned = false;            ///< the members below say what plan() found
  bool full = false;               ///< all places of the list name other vertices
  std::uint32_t index = kRefused;  ///< the place of the target's list that takes the new vertex
  std::uint32_t list = 0;          ///< where BackEdges::bytes_ has the list as it was read
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
  };
  Status plan(const Newcomer& newcomer, Ticks deadline);
  /// Adds the pages of all targets to the wanted ones.
  void want_pages(PinnedPages& pins) const;

  /// Looks, within an update, whether the lists are as they were when they were planned, and
  /// refuses edges whose target is marked or gone. Edges whose lists have changed become unplanned,
  /// or with `give_up` are refused. Returns how many lists have changed.
  std::uint32_t look_again(const PageEditor& editor, const PinnedPages& pins, bool give_up);
  /// Returns, after look_again(), whether some list of layer 0 takes the vertex.
  bool leads_back() const;
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
  Status read_lists(std::span<BackEdge* const> some, graph::Handle self, Ticks deadline);
  /// Returns the bytes of the target's list as plan() read it.
  std::span<const std::byte> list(const BackEdge& edge) const {
    return {&bytes_[edge.list], layout::HnswPlace::kBytes * hnsw_.shape().degree(edge.layer)};
  }
  void choose(BackEdge& edge, const Newcomer& newcomer);
  const GatheredVectors::Entry* member(graph::Handle handle, const std::byte** row) const;

  PagedHnsw& hnsw_;
  NeighborFinder& finder_;
  GatheredVectors members_;  ///< members of lists that the finder does not have
  std::vector<BackEdge> edges_;
  std::vector<std::byte> bytes_;
  std::vector<graph::Handle> handles_;
  std::vector<graph::Candidate> pool_;  ///< handle: the place in the list, or kNoHandle
  std::vector<std::pair<graph::Candidate, const std::byte*>> sorted_;
  std::vector<const std::byte*> rows_;
  graph::Selection selection_;
};

}  // namespace farvec::paged
