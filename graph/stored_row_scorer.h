// A StoredRowScorer scores vertices by their rows themselves.
#pragma once

#include <cstddef>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/types.h"
#include "distance/distance.h"

namespace farvec::graph {

/// A StoredRowScorer is a NodeScorer of exact distances from a query, which is of the rows' type;
/// it borrows both.
struct StoredRowScorer {
  VectorView rows;
  const void* query;
  distance::PairKernel pair;
  distance::ManyKernel many;

  void prefetch(NodeId id) const { prefetch_line(rows.row(id)); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    many(query, rows, {ids, count}, out);
  }
  float exact(NodeId id, const NodeRecord&) const {
    return pair(query, rows.row(id), rows.dimension);
  }
};

}  // namespace farvec::graph
