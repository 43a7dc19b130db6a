#include "layout/pages/entry_graph.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "layout/region/region_bytes.h"

namespace farvec::layout {
namespace {

bool ascend(std::span<const NodeId> ids, std::uint64_t count) {
  return std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<NodeId>()) == ids.end() &&
         ids.back() < count;
}

bool has_good_rows(const SampledGraphView& sample) {
  const auto known = [&](NodeId id) {
    return std::binary_search(sample.ids.begin(), sample.ids.end(), id);
  };
  for (std::size_t v = 0; v < sample.graph.count; ++v) {
    const std::uint32_t degree = sample.graph.degrees[v];
    if (degree > sample.graph.row_capacity) return false;
    const NodeId* const row = sample.graph.row(v);
    if (!std::all_of(row, row + degree, known)) return false;
  }
  return known(sample.graph.entry);
}

}  // namespace

EntryGraph::EntryGraph(HugeBuffer region, const EntryGraphShape& shape, std::uint64_t count,
                       std::string_view source)
    : region_(std::move(region)), shape_(shape) {
  if (shape.vertices == 0 || region_.size() != kRegionHeaderBytes + shape.payload_bytes()) {
    throw Error("{}: {} bytes are not a graph over {} vertices of degree {}; rebuild the index",
                source, region_.size(), shape.vertices, shape.degree);
  }
  if (!ascend(view().ids, count) || !has_good_rows(view())) {
    throw Error("{}: the graph of entries names vertices that it does not have; rebuild the index",
                source);
  }
}

SampledGraphView EntryGraph::view() const {
  const auto* const ids =
      reinterpret_cast<const std::uint32_t*>(region_.data() + kRegionHeaderBytes);
  const std::uint32_t* const degrees = ids + shape_.vertices;
  const std::uint32_t* const neighbors = degrees + shape_.vertices;
  return {{ids, shape_.vertices},
          {neighbors, degrees, shape_.vertices, shape_.degree, shape_.entry}};
}

}  // namespace farvec::layout
