// Searches of an HNSW graph on pages, one at a time: one searcher per fiber slot of a core.
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
  /// All must outlive it; for fibers of the fetcher's scheduler, one search at a time. What a
  /// search needs is allocated here; only a search that meets more vertices than any before it
  /// allocates again.
  HnswSearcher(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options = {});

  struct Query {
    std::span<const std::byte> vector;  ///< stored type (cosine: normalised); any alignment
    std::uint32_t list = 40;            ///< ef: candidates kept, results at most
    Ticks deadline = coroutines::kNoDeadline;
  };

  /// From inside a fiber. Suspends for pages. found() is then the answer, `list` vertices or as
  /// many as the graph has, nearest first, equal distances by the smaller id, none deleted before
  /// the search began. Deleted ones that no vacuum has taken away yet steer the search and take no
  /// places in the list: counts() say how many vertices it has visited, at most all.
  /// invalid_argument for a vector of another length or a list of 0; data_loss, deadline_exceeded
  /// and resource_exhausted as PageFetcher says.
  Status search(const Query& query);

  /// Candidate::id is the caller's id. Valid until the next search.
  std::span<const graph::Candidate> found() const { return scratch_.found(); }

  /// Of all searches since the caller cleared them.
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
