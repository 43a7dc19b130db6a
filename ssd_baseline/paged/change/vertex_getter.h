// A VertexGetter reads the vector of a vertex of an HNSW graph on pages by its id.
#pragma once

#include <cstddef>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "ssd_baseline/paged/graph/id_map.h"

namespace farvec::paged {

/// Reads vectors. Each fiber slot of a core has one, beside writers and searchers.
class VertexGetter {
 public:
  /// Both must outlive it. Fibers of the fetcher's scheduler use it, one call at a time.
  VertexGetter(PagedHnsw& hnsw, PageFetcher& fetcher)
      : hnsw_(hnsw), fetcher_(fetcher), ids_(hnsw, fetcher) {}

  /// Copies the stored vector, as some update left it, to `out`, which has the shape's
  /// vector_bytes(). It is called from inside a fiber, and suspends for pages. not_found when the
  /// id is not in the graph, or is marked as deleted; data_loss when the id map leads elsewhere
  /// again and again; other errors are PageFetcher's. `out` is the vertex's vector only after ok.
  Status get(NodeId id, Ticks deadline, std::span<std::byte> out);

  /// Returns what get() has read since the caller cleared it.
  FetchCounts& counts() { return counts_; }

 private:
  Status read(NodeId id, layout::HnswPlace place, Ticks deadline, std::span<std::byte> out);

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  IdMap ids_;
  FetchCounts counts_;
};

}  // namespace farvec::paged
