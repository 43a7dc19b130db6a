// read_graph() reads the graph and the vectors of a stored index.
#pragma once

#include "dataset/vector_set.h"
#include "graph/graph.h"
#include "indexing/graph_recipe.h"
#include "layout/index/index_directory.h"

namespace farvec::indexing {

/// A StoredGraph is what the records of an index hold.
struct StoredGraph {
  layout::Manifest manifest;  ///< without regions and placement
  dataset::VectorSet rows;    ///< stored type
  graph::Graph graph;

  /// Returns what write_graph() takes, which then writes the same graph in another layout. Borrows
  /// the rows.
  BuiltGraph built() &&;
};

/// Reads all records and checks every checksum. Memory: the records, the vectors and the graph.
/// Throws Error when the index is not one of a graph, when a record names a vertex that does not
/// exist, and for slotted pages that have codes and no vectors.
StoredGraph read_graph(const layout::IndexDirectory& directory, const layout::LoadOptions& options);

}  // namespace farvec::indexing
