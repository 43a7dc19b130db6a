// These functions make a graph index for memory from rows: a Vamana graph, records, and codes for
// compute DRAM.
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

/// A BuiltGraph is a finished graph over the rows of a source, to be written in one layout or in
/// several.
struct BuiltGraph {
  Source source;  ///< its manifest says how the graph was built
  graph::Graph graph;
  graph::VamanaStats stats;
};

/// Throws Error when a vertex of the layout cannot have `degree` neighbours. It is called at the
/// beginning of a long build.
void check_degree(layout::LayoutKind layout, std::uint32_t degree);

/// Returns what a manifest says of a graph that is made with these options, before it is written.
layout::GraphDescription describe_graph(const graph::VamanaOptions& options);

/// Says by what rows are compared while a graph is built: by themselves, or by 8-bit integers where
/// these will do (RowsToLink).
enum class LinkBy : std::uint8_t { rows, rounded };

/// Builds the graph. Throws Error for options that make no sense, and for sample queries of another
/// type or dimension. It needs the memory of graph::build_vamana(), and of RowsToLink. Graphs for
/// sample queries are linked by the rows.
BuiltGraph build_graph(Source source, const graph::VamanaOptions& options,
                       LinkBy by = LinkBy::rows);

/// A FormerGraph is a graph over the rows of a source, and over others that go.
struct FormerGraph {
  graph::Graph graph;  ///< with an entry from which all of it is reachable; of any degree
  RowSet out;  ///< the vertices that go; the others are the rows of the source, in their order
};

/// Makes a BuiltGraph from the former graph, at the cost of pruning it (graph::merge_vamana()).
/// Everything else is the same for build_graph().
BuiltGraph adopt_graph(Source source, FormerGraph former, const graph::VamanaOptions& options);

/// A GraphRecipe says how a built graph is stored.
struct GraphRecipe {
  layout::LayoutKind layout = layout::LayoutKind::csr;  ///< any but slotted
  /// Bits per dimension: in DRAM 1 to 8, or 0 for the vectors themselves; for neighbours in records
  /// 1 to NeighborCodes::kMostBits. None: as many as the data needs (choose_codes()).
  std::optional<std::uint32_t> code_bits = std::nullopt;
  bool record_checksum = false;
  /// For the packed layout: vertices are in the order of the rows, and their lists longer.
  bool in_order = false;
};

/// Trains, encodes and writes. For the packed layout it first finds an order of the vertices,
/// unless they have one. Codes have the seed of the graph. Returns the manifest as written. Throws
/// Error where layout::write_index() does; then nothing is left on disk.
layout::Manifest write_graph(const std::filesystem::path& directory, const BuiltGraph& built,
                             const GraphRecipe& recipe, const layout::WriteOptions& options);

}  // namespace farvec::indexing
