// The neighbours that a vertex of an HNSW graph on pages should have, on each of its layers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/hnsw/select_neighbors.h"
#include "ssd_baseline/paged/graph/gathered_vectors.h"
#include "ssd_baseline/paged/graph/page_source.h"

namespace farvec::paged {

/// Holds vertices of each layer.
using LayerHandles = std::array<std::vector<graph::Handle>, graph::kLayers>;

/// Searches and selects for one vertex at a time; changes nothing. One fiber uses it.
class NeighborFinder {
 public:
  NeighborFinder(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options)
      : hnsw_(hnsw), source_(hnsw, fetcher, options, counts_), vectors_(source_.reader()) {}

  struct Goal {
    NodeId id = 0;
    const std::byte* vector = nullptr;
    std::uint32_t level = 0;
    graph::Handle self = graph::kNoHandle;  ///< the vertex in the graph: it is not chosen
    Ticks deadline = 0;
    /// Vertices to choose from, beside what a search of the layer finds; those that are marked or
    /// gone are not chosen.
    const LayerHandles* also = nullptr;
  };

  /// Chooses the neighbours, from inside a fiber. chosen() then has vertices that were not marked;
  /// it is empty on layers where the graph has no other vertex. Fails like HnswSearcher::search().
  Status find(const Goal& goal);

  /// Returns the chosen vertices, nearest first.
  std::span<const graph::Candidate> chosen(std::uint32_t layer) const { return chosen_[layer]; }
  /// Returns the state of the graph with which the search began.
  const layout::HnswState& state() const { return state_; }
  /// Returns the vectors of all vertices that were chosen; valid until the next find().
  const GatheredVectors& vectors() const { return vectors_; }
  VertexReader& reader() { return source_.reader(); }
  HnswCounts& counts() { return counts_; }
  std::size_t dram_bytes() const {
    return scratch_.dram_bytes() + vectors_.dram_bytes() + source_.dram_bytes();
  }

 private:
  Result<bool> walk(const Goal& goal);
  Status choose(const Goal& goal, std::uint32_t layer);
  void make_pool(const Goal& goal, std::uint32_t layer);

  PagedHnsw& hnsw_;
  HnswCounts counts_;
  PageSource source_;
  GatheredVectors vectors_;
  graph::LayerScratch scratch_;
  graph::Selection selection_;
  layout::HnswState state_;
  std::vector<graph::Candidate> pool_;  ///< their ids are xor the vertex's salt
  std::vector<graph::Handle> handles_;
  std::vector<const std::byte*> rows_;
  std::array<std::vector<graph::Candidate>, graph::kLayers> chosen_;
};

}  // namespace farvec::paged
