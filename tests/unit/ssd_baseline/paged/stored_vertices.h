// What an HNSW graph's pages hold, read one after the other.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "base/error.h"
#include "coroutines/scheduler.h"
#include "layout/hnsw/hnsw_vertex.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged::testing {

/// Ids that are in the graph, and the vectors they have.
using Vertices = std::map<NodeId, std::vector<std::byte>>;

/// Adds those of a page that are not marked.
inline void add_vertices(const layout::HnswShape& shape, std::span<const std::byte> page,
                         Vertices& vertices) {
  const layout::StorePage tuples(page);
  if (tuples.header().kind != static_cast<std::uint16_t>(layout::HnswPageKind::vertices)) return;
  for (std::uint16_t slot = 0; slot < tuples.slots(); ++slot) {
    const auto vertex = layout::HnswVertex::parse(shape, page, slot);
    if (!vertex.ok() || vertex.value().marked()) continue;
    const std::byte* const vector = vertex.value().vector();
    vertices[vertex.value().id()].assign(vector, vector + shape.vector_bytes());
  }
}

/// Every vertex that is not marked. Throws Error when a page cannot be read.
inline Vertices vertices_of(PagedHnsw& hnsw) {
  Vertices vertices;
  run_on_pages(hnsw.store(), [&](PageFetcher& fetcher) {
    FetchCounts counts;
    for (PageNumber page = 1; page < hnsw.store().pages(); ++page) {
      const auto pin = fetcher.fetch(page, coroutines::kNoDeadline, counts);
      if (!pin.ok()) throw Error("page {}: {}", page, pin.status().message());
      pin.value().read(
          [&](std::span<const std::byte> bytes) { add_vertices(hnsw.shape(), bytes, vertices); });
    }
  });
  return vertices;
}

}  // namespace farvec::paged::testing
