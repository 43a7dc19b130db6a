// A graph in local memory as a source, and exact distances as a scorer.
#pragma once

#include <span>

#include "base/node_record.h"
#include "base/status.h"
#include "distance/distance.h"
#include "graph/graph.h"

namespace farvec::graph::testing {

/// A graph in memory whose records' vectors are the data's rows.
struct GraphSource {
  const Graph& graph;
  VectorView data;

  void expect(NodeId) const {}

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    for (NodeId id : frontier) {
      const auto row = graph.neighbors(id);
      visit(id, NodeRecord{data.row(id), reinterpret_cast<const std::byte*>(row.data()),
                           static_cast<std::uint32_t>(row.size())});
    }
    return {};
  }
};

struct ExactScorer {
  VectorView data;
  const void* query;
  distance::PairKernel kernel;

  void prefetch(NodeId) const {}
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = kernel(query, data.row(ids[i]), data.dimension);
  }
  float exact(NodeId, const NodeRecord& record) const {
    return kernel(query, record.vector, data.dimension);
  }
};

}  // namespace farvec::graph::testing
