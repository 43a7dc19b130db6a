#include "search/index/graph_index.h"

#include "base/error.h"
#include "graph/candidate_list.h"
#include "graph/entry_points.h"

namespace farvec::search {

GraphIndex::GraphIndex(Parts parts)
    : parts_(std::move(parts)),
      local_(parts_.codes.records()),
      kernel_(distance::pair_kernel(parts_.metric, parts_.type, parts_.dimension)) {
  const auto& geometry = parts_.locator.geometry();
  graph::require_node_count(geometry.count, "vertices");
  if (geometry.vector_bytes != query_bytes()) {
    throw Error("the index stores {} bytes per vector, but {} x {} needs {}", geometry.vector_bytes,
                parts_.dimension, to_string(parts_.type), query_bytes());
  }
  if (geometry.kind == layout::LayoutKind::packed) {
    row_vertices_ = std::make_unique<RowVertices>(geometry.count);
  }
  entries_ = graph::spread_entries(parts_.entry, geometry.count);
  if (vertex_codes() != nullptr) {
    parts_.codes.require_records(geometry.count, vertex_codes()->record_bytes());
    return;
  }
  parts_.codes.require_records(entries_.size(), query_bytes());
  const std::uint32_t wanted = neighbor_codes()->bytes(geometry.max_degree);
  if (geometry.code_bytes != wanted) {
    throw Error("records hold {} bytes of codes, but {} neighbours need {}: rebuild the index",
                geometry.code_bytes, geometry.max_degree, wanted);
  }
}

}  // namespace farvec::search
