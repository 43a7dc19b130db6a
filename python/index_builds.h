// These functions build indexes on disk from rows, like the tool. A signal ends a build, and then
// nothing is left of it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cluster/clustering.h"
#include "graph/vamana_builder.h"
#include "indexing/cluster_recipe.h"
#include "indexing/reduced_source.h"
#include "indexing/slotted_recipe.h"
#include "layout/cluster/cluster_layout.h"
#include "layout/graph/graph_layout.h"
#include "layout/index/index_writer.h"
#include "python/source_rows.h"
#include "ssd_baseline/paged/build/hnsw_recipe.h"

namespace farvec::python {

/// Holds the arguments that every build has.
struct CommonBuild {
  std::string out;
  Metric metric = Metric::l2;
  std::string name;  ///< the data set's; empty: the file's
  bool overwrite = false;
  bool allow_nonfinite = false;
  bool quiet = false;
  /// What the index has in place of the vectors as they are; none: these.
  std::optional<indexing::ReductionWish> reduction = std::nullopt;
};

struct GraphBuild {
  CommonBuild common;
  layout::LayoutKind layout = layout::LayoutKind::csr;
  graph::VamanaOptions graph;  ///< without the queries of a sample
  std::optional<SourceRows> sample_queries;
  std::optional<std::uint32_t> code_bits;
  bool record_checksum = false;
};

struct SlottedBuild {
  CommonBuild common;
  graph::VamanaOptions graph;  ///< without the queries of a sample
  std::optional<SourceRows> sample_queries;
  indexing::SlottedRecipe recipe;
};

struct ClusterBuild {
  CommonBuild common;
  layout::ClusterLayoutKind layout = layout::ClusterLayoutKind::grouped;
  std::optional<std::uint32_t> code_bits;  ///< for the coded layout
  cluster::ClusteringOptions clustering;
  indexing::ClusterNumber number;
  std::optional<SourceRows> sample_queries;
  std::uint32_t sample_probe = indexing::QuerySample{}.probe;
  bool record_checksum = false;
};

struct HnswBuild {
  std::string out;
  std::string buffer = {};  ///< while rows are inserted on pages; empty: paged::kUsualBuffer
  bool allow_nonfinite = false;
  paged::HnswRecipe recipe;  ///< all but the store's folder and buffer, dimension and type
};

/// These need the interpreter, and give it up while they work. They return what was built. They
/// throw Error; then, and when a signal's handler has raised, nothing is left of the build.
nlohmann::ordered_json build_graph(SourceRows& rows, GraphBuild build);
nlohmann::ordered_json build_slotted(SourceRows& rows, SlottedBuild build);
nlohmann::ordered_json build_clusters(SourceRows& rows, ClusterBuild build);
nlohmann::ordered_json build_hnsw(SourceRows& rows, HnswBuild build);

}  // namespace farvec::python
