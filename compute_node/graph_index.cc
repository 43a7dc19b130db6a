#include "compute_node/graph_index.h"

#include "base/error.h"

namespace farvec::compute_node {

GraphIndex::GraphIndex(Parts parts)
    : parts_(std::move(parts)),
      kernel_(distance::pair_kernel(parts_.metric, parts_.type, parts_.dimension)) {
  const auto& geometry = parts_.locator.geometry();
  if (geometry.vector_bytes != query_bytes()) {
    throw Error("the index stores {} bytes per vector, but {} x {} needs {}", geometry.vector_bytes,
                parts_.dimension, to_string(parts_.type), query_bytes());
  }
  if (geometry.count > 0 && parts_.entry >= geometry.count) {
    throw Error("the entry point {} is beyond the {} vertices", parts_.entry, geometry.count);
  }
  const std::size_t expected = geometry.count * parts_.quantizer.record_bytes();
  if (parts_.codes.size() != expected) {
    throw Error("the codes take {} bytes, but {} vertices need {}", parts_.codes.size(),
                geometry.count, expected);
  }
}

}  // namespace farvec::compute_node
