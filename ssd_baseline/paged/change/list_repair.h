// Gives a vertex of an HNSW graph on pages new lists in place of those that name condemned ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ssd_baseline/paged/change/back_edges.h"
#include "ssd_baseline/paged/change/neighbor_finder.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"
#include "ssd_baseline/paged/graph/pinned_pages.h"

namespace farvec::paged {

struct RepairCounts {
  std::uint64_t repaired = 0;    ///< vertices whose lists were chosen again
  std::uint64_t edges_back = 0;  ///< lists of others that took one of them
  std::uint64_t relinked = 0;    ///< lost vertices to which an edge leads again
  std::uint64_t retries = 0;
};

/// Repairs one vertex after the other for a vacuum. One fiber uses it.
///
/// A list is chosen from what a search finds, from the members that stay, and from the neighbours
/// of the members that do not, which is how FreshDiskANN removes a vertex: a search of a cluster
/// ends within it, and the few edges that lead out of it would be lost. The chosen vertices take an
/// edge back, in the same update, like the neighbours of a new vertex.
class ListRepair {
 public:
  /// Both must outlive it.
  ListRepair(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options);

  struct Vertex {
    graph::Handle handle = graph::kNoHandle;
    NodeId id = 0;
    std::uint32_t level = 0;
    std::span<const graph::Handle> condemned;  ///< ascending
    Ticks deadline = 0;
    /// The lost vertices, where it is one: its lists stay, and one of a neighbour is to name it.
    LostVertices* lost = nullptr;
  };
  /// Repairs the lists of a vertex, from inside a fiber. Does nothing if another writer has changed
  /// the lists so that they name no condemned vertex, and to a lost one that a neighbour names.
  /// resource_exhausted when the lists keep changing.
  Status run(const Vertex& vertex);

  /// Returns the position in the log after the last update.
  wal::Position position() const { return position_; }
  const RepairCounts& done() const { return done_; }
  HnswCounts& counts() { return finder_.counts(); }

 private:
  Status try_to_repair();
  Status take_room();
  Result<bool> read_lists();
  Status read_condemned();
  Status choose();
  Result<wal::Position> commit(bool last_attempt);
  Status edit(PageEditor& editor, bool last_attempt);
  Status write_lists(PageEditor& editor, const PinnedVertex& neighbors);
  bool is_condemned(graph::Handle handle) const;
  void note_neighbors(const layout::HnswVertex& vertex);

  PagedHnsw& hnsw_;
  NeighborFinder finder_;
  BackEdges back_edges_;
  PinnedPages pins_;
  RepairCounts done_;
  wal::Position position_ = 0;

  // The state of the repair that runs.
  Vertex vertex_;
  std::vector<std::byte> vector_;
  std::vector<std::byte> lists_;        ///< places on all layers, as they were read
  std::vector<graph::Handle> leaving_;  ///< members that are condemned
  LayerHandles also_;
  std::uint32_t edges_back_ = 0;
};

/// Returns whether a list of the vertex, on any layer, names one of the condemned ones, which are
/// ascending.
bool names_any(const layout::HnswShape& shape, const layout::HnswVertex& vertex,
               std::span<const graph::Handle> condemned);

}  // namespace farvec::paged
