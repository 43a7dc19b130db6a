// merge_vamana() makes a Vamana graph without some of its vertices and with new ones, at the cost
// of what changes.
#pragma once

#include "base/row_set.h"
#include "base/types.h"
#include "graph/graph.h"
#include "graph/vamana_builder.h"

namespace farvec::graph {

/// A VamanaMerge is the input of a merge.
struct VamanaMerge {
  Graph former;  ///< made by build_vamana() or merge_vamana(); given up, freed half-way
  RowSet out;    ///< those of former's vertices that are out
  /// First the rows of former's vertices that are not out, in their order, then new ones. Stored
  /// type; must outlive the call; fewer than kMaxNodes.
  VectorView rows;
};

/// Returns a graph over merge.rows, of at most options.degree edges per vertex, which need not be
/// former's degree. A vertex that stays and had edges to vertices that are out gets others in their
/// place; new rows are inserted in batches, options.passes times, as build_vamana() does (Singh et
/// al., FreshDiskANN, 2021, sections 4 and 5). The graph is the same for any number of threads;
/// every vertex is reachable from the entry, which is the medoid of merge.rows. When any vertices
/// are out, one vertex in 64 (of 256 to 65,536) and the medoid get some long edges, for regions to
/// which no way is left. With nothing new and nothing out the edges stay as they are, but for what
/// a smaller degree or reachability takes. An empty former graph, or one of which more than half of
/// the vertices are out, gives what build_vamana() builds; no rows give a graph without vertices
/// and without an entry. Memory beside the rows: former, and what build_vamana() needs.
/// options.affinity must not be asked for (CHECKed). Throws Error for options that make no sense,
/// and WorkInterrupted.
Graph merge_vamana(VamanaMerge merge, Metric metric, const VamanaOptions& options,
                   VamanaStats* stats = nullptr);

}  // namespace farvec::graph
