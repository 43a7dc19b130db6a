// From a graph index that is there already, and what has changed since, to the next one.
#pragma once

#include "graph/vamana_builder.h"
#include "indexing/joined_rows.h"
#include "indexing/stored_graph.h"

namespace farvec::indexing {

/// The stored graph without the rows that are out and with those that come: first the former rows
/// that stay, in their order, then the new ones (graph::merge_vamana()). The manifest names no file
/// as the source of the joined rows, and `options` as how the graph was built, with one merge more
/// than former's; StoredGraph::built() gives it to write_graph(), and another merge_graph() may
/// follow. Memory at most: former, `more` and the
/// joined rows together, then the joined rows, former's graph and what graph::build_vamana() needs.
/// Throws Error when `more` has another type or dimension, when no row remains, and as
/// graph::merge_vamana() does.
StoredGraph merge_graph(StoredGraph former, IndexChanges changes,
                        const graph::VamanaOptions& options, graph::VamanaStats* stats = nullptr);

}  // namespace farvec::indexing
