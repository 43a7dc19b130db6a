// Scorers compute the distances from one query in a graph index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/expansion.h"
#include "quantization/neighbor_codes.h"
#include "quantization/rabitq.h"
#include "search/index/graph_index.h"

namespace farvec::search {

/// Scores for one query: neighbours by their codes in local DRAM, expanded records by their
/// vectors.
struct VertexCodeScorer {
  using Prepared = quantization::RabitqQuery;

  const GraphIndex& index;
  const Prepared& prepared;
  const std::byte* query;

  static void prepare(const GraphIndex& index, const std::byte* query, Prepared& out) {
    index.vertex_codes()->prepare(query, out);
  }
  void prefetch(NodeId id) const { index.vertex_codes()->prefetch_record(index.codes(), id); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    index.vertex_codes()->estimate(prepared, index.codes(), ids, count, out);
  }
  float exact(NodeId, const NodeRecord& record) const {
    return index.kernel()(query, record.vector, index.dimension());
  }
};

/// Scores for one query where a vertex's record has the codes of its neighbours.
struct NeighborCodeScorer {
  using Prepared = quantization::NeighborQuery;
  static constexpr std::uint32_t kBlock = quantization::kScanBlock;

  const GraphIndex& index;
  const Prepared& prepared;
  const std::byte* query;

  static void prepare(const GraphIndex& index, const std::byte* query, Prepared& out) {
    index.neighbor_codes()->prepare(query, out);
  }
  float entry(std::size_t i) const {
    return index.kernel()(query, index.entry_vector(i), index.dimension());
  }
  std::uint32_t estimate(const NodeRecord& record, const graph::NeighborBlock& block,
                         float* out) const {
    return index.neighbor_codes()->estimate(
        prepared, {record.codes, block.number, block.distance, block.bound}, out);
  }
  float exact(NodeId, const NodeRecord& record) const {
    return index.kernel()(query, record.vector, index.dimension());
  }
};

}  // namespace farvec::search
