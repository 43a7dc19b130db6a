// Edges from the neighbours that a vertex was given back to it.
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
  bool planned = false;            ///< the rest says what was found
  bool full = false;               ///< the list names others only, in all of its places
  std::uint32_t index = kRefused;  ///< the place of the target's list that takes the new vertex
  std::uint32_t list = 0;          ///< where the list as it was read begins in BackEdges::bytes
};

/// Within an update: a neighbour that was chosen is still what it was, on that layer, and not
/// marked. Its page is pinned.
bool is_alive(const layout::HnswShape& shape, const PageEditor& editor, const PinnedPages& pins,
              const graph::Candidate& neighbor, std::uint32_t layer);

/// Decides which lists take a vertex that is new, or that was given new neighbours, by the same
/// selection that made them.
class BackEdges {
 public:
  BackEdges(PagedHnsw& hnsw, NeighborFinder& finder)
      : hnsw_(hnsw), finder_(finder), members_(finder.reader()) {}

  /// All of the neighbours that the finder has chosen; none is planned.
  void begin(std::uint32_t level);

  /// From inside a fiber: reads the lists of those that are not planned, of the full ones the
  /// vectors of all that they name, several lists at once, and plans them.
  struct Newcomer {
    NodeId id = 0;
    const std::byte* vector = nullptr;
    graph::Handle self = graph::kNoHandle;  ///< lists that have it already do not take it
  };
  Status plan(const Newcomer& newcomer, Ticks deadline);
  /// Pages of all targets.
  void want_pages(PinnedPages& pins) const;

  /// Within an update: looks whether the lists are as they were planned, and refuses edges whose
  /// target is marked or gone. Those that have changed become unplanned, or are refused with
  /// `give_up`. Returns how many have changed.
  std::uint32_t look_again(const PageEditor& editor, const PinnedPages& pins, bool give_up);
  /// After look_again(): some list of layer 0 takes it.
  bool leads_back() const;
  /// After look_again(): writes the place into the lists that take it; adds them to `made`.
  Status link(PageEditor& editor, const PinnedPages& pins, layout::HnswPlace place,
              std::uint32_t& made) const;

  std::size_t dram_bytes() const {
    return members_.dram_bytes() + bytes_.capacity() + edges_.capacity() * sizeof(BackEdge);
  }

 private:
  /// Lists whose members are in DRAM at the same time, at most.
  static constexpr std::size_t kListsAtOnce = 16;

  Status plan_some(std::span<BackEdge* const> some, const Newcomer& newcomer, Ticks deadline);
  Status read_lists(std::span<BackEdge* const> some, graph::Handle self, Ticks deadline);
  /// The bytes of the target's list as plan() read it.
  std::span<const std::byte> list(const BackEdge& edge) const {
    return {&bytes_[edge.list], layout::HnswPlace::kBytes * hnsw_.shape().degree(edge.layer)};
  }
  void choose(BackEdge& edge, const Newcomer& newcomer);
  const GatheredVectors::Entry* member(graph::Handle handle, const std::byte** row) const;

  PagedHnsw& hnsw_;
  NeighborFinder& finder_;
  GatheredVectors members_;  ///< that the finder does not have
  std::vector<BackEdge> edges_;
  std::vector<std::byte> bytes_;
  std::vector<graph::Handle> handles_;
  std::vector<graph::Candidate> pool_;  ///< handle: the place in the list, or kNoHandle
  std::vector<std::pair<graph::Candidate, const std::byte*>> sorted_;
  std::vector<const std::byte*> rows_;
  graph::Selection selection_;
};

}  // namespace farvec::paged
