// Reads the vector of a vertex of an HNSW graph on pages by its id.
#pragma once

#include <cstddef>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "ssd_baseline/paged/graph/id_map.h"

namespace farvec::paged {

/// One per fiber slot of a core, beside writers and searchers.
class VertexGetter {
 public:
  /// Both must outlive it; for fibers of the fetcher's scheduler, one call at a time.
  VertexGetter(PagedHnsw& hnsw, PageFetcher& fetcher)
      : hnsw_(hnsw), fetcher_(fetcher), ids_(hnsw, fetcher) {}

  /// From inside a fiber; suspends for pages. Copies the stored vector to `out`, which has the
  /// shape's vector_bytes(), as some update left it. not_found when the id is not in the graph, or
  /// is marked as deleted; data_loss when the id map leads elsewhere again and again; else as
  /// PageFetcher says. Only after ok is `out` the vertex's vector.
  Status get(NodeId id, Ticks deadline, std::span<std::byte> out);

  /// What get() has read since the caller cleared it.
  FetchCounts& counts() { return counts_; }

 private:
  Status read(NodeId id, layout::HnswPlace place, Ticks deadline, std::span<std::byte> out);

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  IdMap ids_;
  FetchCounts counts_;
};

}  // namespace farvec::paged
