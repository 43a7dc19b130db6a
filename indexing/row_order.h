// reorder() gives the rows of an index other numbers.
#pragma once

#include <span>

#include "base/types.h"
#include "dataset/vector_set.h"
#include "indexing/stored_clusters.h"
#include "indexing/stored_graph.h"

namespace farvec::indexing {

/// Returns rows of which row i is rows[order[i]].
dataset::VectorSet picked_rows(const VectorView& rows, std::span<const NodeId> order,
                               unsigned threads);

/// Numbers the rows anew: row i is the one that was order[i], which has each row once. The graph,
/// and the clusters, are the same with these numbers; each list of neighbours ascends. Memory: the
/// rows twice, then the graph or the memberships twice.
void reorder(StoredGraph& stored, std::span<const NodeId> order, unsigned threads);
void reorder(StoredClusters& stored, std::span<const NodeId> order, unsigned threads);

}  // namespace farvec::indexing
