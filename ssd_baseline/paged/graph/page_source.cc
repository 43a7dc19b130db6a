#include "ssd_baseline/paged/graph/page_source.h"

#include <algorithm>

namespace farvec::paged {
namespace {

/// Whether a vacuum has emptied the vertex's lists: it is about to erase the vertex.
bool is_detached(const layout::HnswShape& shape, const layout::HnswVertex& vertex) {
  if (!vertex.marked()) return false;
  for (std::uint32_t i = 0; i < shape.degree(0); ++i) {
    if (!vertex.neighbor(shape, 0, i).empty()) return false;
  }
  return true;
}

}  // namespace

VertexReader::VertexReader(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options)
    : hnsw_(hnsw), fetcher_(fetcher), options_(options), batch_(fetcher, kBatchPages) {
  const std::size_t expected = hnsw.shape().degree(0);
  order_.reserve(expected);
  pages_.reserve(expected);
  begins_.reserve(expected + 1);
}

Status VertexReader::group(std::span<const graph::Handle> handles) {
  order_.clear();
  for (std::uint32_t i = 0; i < handles.size(); ++i) {
    order_.emplace_back(layout::HnswPlace::of(handles[i]).page, i);
  }
  std::sort(order_.begin(), order_.end());
  if (!order_.empty() && order_.back().first >= hnsw_.store().pages()) {
    return {StatusCode::data_loss, "an edge leads to a page that does not exist"};
  }
  pages_.clear();
  begins_.clear();
  for (std::uint32_t at = 0; at < order_.size(); ++at) {
    if (!pages_.empty() && pages_.back() == order_[at].first) continue;
    pages_.push_back(order_[at].first);
    begins_.push_back(at);
  }
  begins_.push_back(static_cast<std::uint32_t>(order_.size()));
  return {};
}

Status PageSource::neighbors(graph::Handle vertex, std::uint32_t layer,
                             std::vector<graph::Handle>& out) {
  HnswLayerCounts& counts = counts_.layers[layer];
  ++counts.expanded;
  out.clear();
  const layout::HnswShape& shape = reader_.hnsw().shape();
  const Status status =
      reader_.read_one(vertex, deadline_, counts.pages, [&](const layout::HnswVertex& v) -> Status {
        lost_ = lost_ || v.level() < layer || is_detached(shape, v);
        if (v.level() < layer) return {};
        for (std::uint32_t i = 0; i < shape.degree(layer); ++i) {
          const layout::HnswPlace place = v.neighbor(shape, layer, i);
          if (!place.empty()) out.push_back(place.handle());
        }
        return {};
      });
  if (status.code() != StatusCode::not_found) return status;
  lost_ = true;
  return {};
}

}  // namespace farvec::paged
