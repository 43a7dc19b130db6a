#include "compute_node/graph_index.h"

#include "base/error.h"
#include "graph/candidate_list.h"
#include "graph/entry_points.h"

namespace farvec::compute_node {

GraphIndex::GraphIndex(Parts parts)
    : parts_(std::move(parts)),
      codes_(parts_.codes.records()),
      kernel_(distance::pair_kernel(parts_.metric, parts_.type, parts_.dimension)) {
  const auto& geometry = parts_.locator.geometry();
  if (geometry.count >= graph::kMaxNodes) {
    throw Error("the index has {} vertices; a search takes fewer than {}", geometry.count,
                graph::kMaxNodes);
  }
  if (geometry.vector_bytes != query_bytes()) {
    throw Error("the index stores {} bytes per vector, but {} x {} needs {}", geometry.vector_bytes,
                parts_.dimension, to_string(parts_.type), query_bytes());
  }
  if (geometry.count > 0 && parts_.entry >= geometry.count) {
    throw Error("the entry point {} is beyond the {} vertices", parts_.entry, geometry.count);
  }
  const layout::CodesHeader& header = parts_.codes.header;
  if (header.count != geometry.count || header.record_bytes != parts_.quantizer.record_bytes()) {
    throw Error("the codes are {} records of {} bytes, but {} of {} are needed: rebuild the index",
                header.count, header.record_bytes, geometry.count, parts_.quantizer.record_bytes());
  }
  entries_ = graph::spread_entries(parts_.entry, geometry.count);
}

}  // namespace farvec::compute_node
