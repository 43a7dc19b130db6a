// An HnswSearcher searches an HNSW graph on pages, one search at a time; each fiber slot of a core
// has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "graph/hnsw/layer_scratch.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/graph/page_source.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

class HnswSearcher {
 public:
  /// All arguments must outlive it. It is for fibers of the fetcher's scheduler, one search at a
  /// time. The constructor allocates what a search needs; only a search that meets more vertices
  /// than any before it allocates again.
  HnswSearcher(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options = {});

  struct Query {
    std::span<const std::byte> vector;  ///< stored type (cosine: normalised); any alignment
    std::uint32_t list = 40;            ///< ef: how many candidates are kept, and most results
    Ticks deadline = coroutines::kNoDeadline;
  };

  /// Must be called inside a fiber. It suspends for pages. Afterwards found() is the answer: `list`
  /// vertices or as many as the graph has, nearest first, equal distances by the smaller id, none
  /// of them deleted before the search began. Deleted vertices that no vacuum has taken away yet
  /// steer the search and take no places in the list: counts() say how many vertices it has
  /// visited, at most all. invalid_argument for a vector of another length or a list of 0;
  /// data_loss, deadline_exceeded and resource_exhausted where PageFetcher returns them.
  Status search(const Query& query);

  /// Candidate::id is the caller's id. The span is valid until the next search.
  std::span<const graph::Candidate> found() const { return scratch_.found(); }

  /// Returns the counts of all searches since the caller cleared them.
  HnswCounts& counts() { return counts_; }
  std::size_t dram_bytes() const { return scratch_.dram_bytes() + source_.dram_bytes(); }

 private:
  Result<bool> walk(const Query& query);

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  HnswCounts counts_;
  PageSource source_;
  graph::LayerScratch scratch_;
};

}  // namespace farvec::paged
