// A PageSource gives searches of a layer the vertices of an HNSW graph on pages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "graph/hnsw/layer_search.h"
#include "layout/hnsw/hnsw_vertex.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/store/page_batch.h"

namespace farvec::paged {

/// Reads vertices in one of the three modes. All of a fiber's reads of vertices go through it. It
/// sees a vertex's page in the state after some update.
class VertexReader {
 public:
  /// All must outlive it. It is for one fiber at a time.
  VertexReader(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options);

  /// Calls look(i, vertex) for every handle that leads to a vertex, grouped by page, in any order;
  /// `i` is the handle's place among them. The vertex is valid during look(), which must not
  /// suspend. Ends with the first bad status: of a page, of a vertex whose bytes are damaged, or of
  /// look(). It asks for several pages at once where the mode says so.
  template <typename Look>
  Status read(std::span<const graph::Handle> handles, Ticks deadline, FetchCounts& counts,
              Look&& look);

  /// Does what read() does for one vertex; not_found when there is none.
  template <typename Look>
  Status read_one(graph::Handle handle, Ticks deadline, FetchCounts& counts, Look&& look);

  PagedHnsw& hnsw() { return hnsw_; }
  PageFetcher& fetcher() { return fetcher_; }
  std::size_t dram_bytes() const {
    return order_.capacity() * sizeof(order_[0]) + pages_.capacity() * sizeof(PageNumber) +
           begins_.capacity() * sizeof(std::uint32_t);
  }

 private:
  /// Most pages that are asked for at once.
  static constexpr std::size_t kBatchPages = 256;

  /// Sorts handles by page, with the pages in the order of their first handles.
  Status group(std::span<const graph::Handle> handles);
  template <typename Visit>
  Status sync(Ticks deadline, FetchCounts& counts, Visit&& visit);
  template <typename Visit>
  Result<std::size_t> batched(std::size_t begin, Ticks deadline, FetchCounts& counts,
                              Visit&& visit);
  template <typename Look>
  Status look_at(const PagePin& pin, std::size_t page, std::span<const graph::Handle> handles,
                 Look& look) const;

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  const HnswReadOptions options_;
  PageBatch batch_;
  std::vector<std::pair<PageNumber, std::uint32_t>> order_;  ///< page, place among the handles
  std::vector<PageNumber> pages_;                            ///< different ones
  std::vector<std::uint32_t> begins_;  ///< the begin of each page's run in order_
};

/// A PageSource is a graph::LayerSource of one search. It counts per layer what the search costs.
class PageSource {
 public:
  PageSource(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options,
             HnswCounts& counts)
      : reader_(hnsw, fetcher, options), counts_(counts) {}

  /// Must be called before each search. The query must stay where it is until the search ends.
  /// Candidates' ids are the vertices' xor `salt`: see graph::tie_salt().
  void begin(const std::byte* query, Ticks deadline, NodeId salt = 0) {
    query_ = query;
    deadline_ = deadline;
    salt_ = salt;
    lost_ = false;
  }

  /// Says whether a vacuum may be the reason that a search since begin() found `found` vertices
  /// where it wanted `wanted`. That is so when it met a vertex that was taken away between its
  /// score and its neighbours, and found less than half of what it wanted. The vertices beyond such
  /// a vertex are reached again from the entry.
  bool starved(std::size_t found, std::uint64_t wanted) const {
    return lost_ && 2 * found < wanted;
  }

  Status neighbors(graph::Handle vertex, std::uint32_t layer, std::vector<graph::Handle>& out);
  template <typename Visit>
  Status score(std::uint32_t layer, std::span<const graph::Handle> handles, Visit&& visit);

  VertexReader& reader() { return reader_; }
  std::size_t dram_bytes() const { return reader_.dram_bytes(); }

 private:
  VertexReader reader_;
  HnswCounts& counts_;
  const std::byte* query_ = nullptr;
  Ticks deadline_ = 0;
  NodeId salt_ = 0;
  bool lost_ = false;
};

/// A vacuum may take away the vertex at which a search begins, or those with which it begins a
/// layer. It does not do that this many times in a row.
inline constexpr int kWalkAttempts = 8;

/// An EntryPoint is what a search needs to begin.
struct EntryPoint {
  const PagedHnsw& hnsw;
  Ticks deadline = 0;
  FetchCounts& counts;
};

/// To be called inside a fiber: reads the meta page's state and begins a search at the graph's
/// entry; an empty graph has none. data_loss when there is no vertex at the entry.
Status enter_hnsw(const EntryPoint& at, PageSource& source, graph::LayerScratch& scratch,
                  layout::HnswState& state);

template <typename Look>
Status VertexReader::look_at(const PagePin& pin, std::size_t page,
                             std::span<const graph::Handle> handles, Look& look) const {
  return pin.read([&](std::span<const std::byte> bytes) -> Status {
    for (std::uint32_t at = begins_[page]; at < begins_[page + 1]; ++at) {
      const std::uint32_t i = order_[at].second;
      const auto slot = layout::HnswPlace::of(handles[i]).slot;
      const auto vertex = layout::HnswVertex::parse(hnsw_.shape(), bytes, slot);
      if (vertex.status().code() == StatusCode::not_found) continue;
      if (!vertex.ok()) return vertex.status();
      if (Status status = look(i, vertex.value()); !status.ok()) return status;
    }
    return {};
  });
}

template <typename Visit>
Status VertexReader::sync(Ticks deadline, FetchCounts& counts, Visit&& visit) {
  for (std::size_t page = 0; page < pages_.size(); ++page) {
    const auto pin = fetcher_.fetch(pages_[page], deadline, counts);
    if (!pin.ok()) return pin.status();
    if (Status status = visit(pin.value(), page); !status.ok()) return status;
  }
  return {};
}

/// Returns for how many pages there was room.
template <typename Visit>
Result<std::size_t> VertexReader::batched(std::size_t begin, Ticks deadline, FetchCounts& counts,
                                          Visit&& visit) {
  const std::size_t most = std::min(kBatchPages, pages_.size() - begin);
  const auto started = batch_.start_some({&pages_[begin], most}, deadline, counts);
  if (!started.ok()) return started;
  const std::size_t size = started.value();
  Status status;
  const std::size_t least = options_.mode == ReadMode::parallel
                                ? size
                                : std::max<std::uint32_t>(options_.min_complete, 1);
  if (status.ok() && options_.mode == ReadMode::parallel) status = batch_.wait(least);
  while (status.ok() && batch_.left() > 0) {
    PageBatch::Ready ready;
    if (!batch_.take(ready)) {
      status = batch_.wait(least);
      continue;
    }
    status = ready.status.ok() ? visit(ready.pin, begin + ready.index) : ready.status;
  }
  batch_.clear();
  return status.ok() ? started : status;
}

template <typename Look>
Status VertexReader::read(std::span<const graph::Handle> handles, Ticks deadline,
                          FetchCounts& counts, Look&& look) {
  if (Status status = group(handles); !status.ok()) return status;
  const auto visit = [&](const PagePin& pin, std::size_t page) {
    return look_at(pin, page, handles, look);
  };
  if (options_.mode == ReadMode::sync) return sync(deadline, counts, visit);
  for (std::size_t begin = 0; begin < pages_.size();) {
    const auto read = batched(begin, deadline, counts, visit);
    if (!read.ok()) return read.status();
    begin += read.value();
  }
  return {};
}

template <typename Look>
Status VertexReader::read_one(graph::Handle handle, Ticks deadline, FetchCounts& counts,
                              Look&& look) {
  const auto place = layout::HnswPlace::of(handle);
  const auto pin = fetcher_.fetch(place.page, deadline, counts);
  if (!pin.ok()) return pin.status();
  return pin.value().read([&](std::span<const std::byte> bytes) -> Status {
    const auto vertex = layout::HnswVertex::parse(hnsw_.shape(), bytes, place.slot);
    return vertex.ok() ? look(vertex.value()) : vertex.status();
  });
}

template <typename Visit>
Status PageSource::score(std::uint32_t layer, std::span<const graph::Handle> handles,
                         Visit&& visit) {
  HnswLayerCounts& counts = counts_.layers[layer];
  const PagedHnsw& hnsw = reader_.hnsw();
  counts.visited += handles.size();
  return reader_.read(
      handles, deadline_, counts.pages,
      [&](std::uint32_t i, const layout::HnswVertex& vertex) -> Status {
        // Another vertex has taken this place meanwhile, and is not on this layer.
        if (vertex.level() < layer) return {};
        const float distance = hnsw.distance(query_, vertex.vector());
        ++counts.distances;
        visit(graph::Scored{{distance, vertex.id() ^ salt_, handles[i]}, vertex.marked()});
        return {};
      });
}

}  // namespace farvec::paged
