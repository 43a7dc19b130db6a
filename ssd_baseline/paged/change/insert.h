// An Insert puts one vertex at a time into an HNSW graph on pages: it makes a plan, then one
// update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ssd_baseline/paged/change/back_edges.h"
#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/change/neighbor_finder.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"
#include "ssd_baseline/paged/graph/id_map.h"
#include "ssd_baseline/paged/graph/pinned_pages.h"

namespace farvec::paged {

/// Holds what a writer keeps for its inserts. One fiber uses it.
class Insert {
 public:
  Insert(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswWriterOptions& options, IdMap& ids,
         HnswWriteCounts& written);

  struct Vertex {
    NodeId id = 0;
    const std::byte* vector = nullptr;  ///< has the graph's length
    Ticks deadline = 0;
    IfThere if_there = IfThere::refuse;
  };
  /// Inserts the vertex, see HnswWriter::insert(), which has checked the vector.
  Result<wal::Position> run(const Vertex& vertex);

  HnswCounts& counts() { return finder_.counts(); }
  std::size_t dram_bytes() const {
    return finder_.dram_bytes() + back_edges_.dram_bytes() + page_.capacity();
  }

 private:
  /// Says why an update ended without a change.
  enum class Obstacle : std::uint8_t {
    none,   ///< it ended with a change, or with an error
    id,     ///< the id has another place now: find it, and search again
    graph,  ///< the graph has vertices now, or the chosen neighbours are gone: search again
    lists,  ///< lists of neighbours have changed: plan these again
    room,   ///< the page is full meanwhile, or the policy wants to be asked again
  };

  Result<wal::Position> try_to_insert();
  Status take_room();
  Status find_id();
  Status search();
  Status place();
  Result<wal::Position> commit();
  void give_up_spare();
  Status add_spare_to_free_pages();
  Status edit(PageEditor& editor);
  Result<bool> look_at_id(const PageEditor& editor);
  Status mark_replaced(PageEditor& editor, layout::HnswState& state);
  Status look_at_neighbors(const PageEditor& editor);
  Status look_at_lists(const PageEditor& editor);
  Status prepare_page(PageEditor& editor, layout::HnswState& state);
  Status link(PageEditor& editor, layout::HnswPlace place);
  Status obstructed(Obstacle obstacle);
  bool is_new_page() const { return placement_.page == layout::kNoPage; }

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  IdMap& ids_;
  HnswWriteCounts& written_;
  FallbackPlacement fallback_;
  PlacementPolicy& policy_;
  NeighborFinder finder_;
  BackEdges back_edges_;
  PinnedPages pins_;
  PagePin spare_;  ///< a page that was added for the insert that runs, and is not used yet
  std::vector<std::byte> page_;
  std::vector<std::uint32_t> partitions_;

  // The state of the insert that runs.
  Vertex vertex_;
  std::uint32_t level_ = 0;
  IdEntry entry_;
  Placement placement_;
  PageNumber vertex_page_ = layout::kNoPage;
  Obstacle obstacle_ = Obstacle::none;
  bool last_attempt_ = false;
  bool replaced_ = false;
  std::array<std::vector<graph::Candidate>, graph::kLayers> alive_;
  std::uint32_t left_out_ = 0;
  std::uint32_t edges_back_ = 0;
};

}  // namespace farvec::paged
