// From rows to a graph index for memory: a Vamana graph, records, and codes for compute DRAM.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/row_set.h"
#include "graph/graph.h"
#include "graph/vamana_builder.h"
#include "indexing/source.h"
#include "layout/graph/graph_layout.h"
#include "layout/index/index_writer.h"

namespace farvec::indexing {

/// A finished graph over the rows of a source, to be written in one layout or in several.
struct BuiltGraph {
  Source source;  ///< its manifest says how the graph was built
  graph::Graph graph;
  graph::VamanaStats stats;
};

/// For the beginning of a long build: throws Error when a vertex of the layout cannot have so many
/// neighbours.
void check_degree(layout::LayoutKind layout, std::uint32_t degree);

/// What a manifest says of a graph that is made with these options, before it is written.
layout::GraphPart describe_graph(const graph::VamanaOptions& options);

/// Throws Error for options that make no sense, and for sample queries of another type or
/// dimension. Memory as for graph::build_vamana().
BuiltGraph build_graph(Source source, const graph::VamanaOptions& options);

/// A graph over the rows of a source, and over others that go.
struct FormerGraph {
  graph::Graph graph;  ///< with an entry from which all of it is reachable; of any degree
  RowSet out;          ///< vertices that go: the others are the rows of the source, in their order
};

/// As build_graph(), at the cost of pruning the former graph as graph::merge_vamana() does.
BuiltGraph adopt_graph(Source source, FormerGraph former, const graph::VamanaOptions& options);

/// What becomes of a built graph.
struct GraphRecipe {
  layout::LayoutKind layout = layout::LayoutKind::csr;  ///< any but slotted
  /// Per dimension: in DRAM 1 to 8, or 0 for the vectors themselves; of neighbours in records 1 to
  /// NeighborCodes::kMostBits. None: as many as the data needs (choose_codes()).
  std::optional<std::uint32_t> code_bits = std::nullopt;
  bool record_checksum = false;
};

/// Trains, encodes and writes, packed after it has found an order for the vertices; codes are
/// seeded as the graph was. Returns the manifest as written. Throws Error as layout::write_index()
/// does; then nothing is left behind.
layout::Manifest write_graph(const std::filesystem::path& directory, const BuiltGraph& built,
                             const GraphRecipe& recipe, const layout::WriteOptions& options);

}  // namespace farvec::indexing
