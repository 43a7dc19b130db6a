// merge_graph() makes the next graph index from a stored one and what has changed since.
#pragma once

#include "graph/vamana_builder.h"
#include "indexing/joined_rows.h"
#include "indexing/stored_graph.h"

namespace farvec::indexing {

/// Returns the stored graph without the rows that go and with those that come. The former rows that
/// stay come first, in their order, then the new ones (graph::merge_vamana()). The manifest names
/// no file as the source of the joined rows. It names `options` as how the graph was built, and
/// counts one merge more than former's. StoredGraph::built() turns the result into what
/// write_graph() takes, and another merge_graph() may follow. Memory at most: former, `more` and
/// the joined rows together, then the joined rows, former's graph and what graph::build_vamana()
/// needs. Throws Error when `more` has another type or dimension, when no row remains, and where
/// graph::merge_vamana() does.
StoredGraph merge_graph(StoredGraph former, IndexChanges changes,
                        const graph::VamanaOptions& options, graph::VamanaStats* stats = nullptr);

}  // namespace farvec::indexing
