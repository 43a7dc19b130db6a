// The indexes that the advisor compares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "layout/cluster_layout.h"
#include "layout/manifest.h"

namespace farvec::cli {

/// How all graphs are built and searched; only the degree varies.
struct GraphRecipe {
  std::uint32_t list = 75;
  double alpha = 1.15;
  std::uint32_t passes = 1;
  std::uint32_t code_bits = 4;
  std::uint32_t width = 3;  ///< of the searches
};

/// Clusters that several layouts share.
struct Partition {
  std::uint32_t cluster_rows = 0;  ///< vectors per cluster, without replicas
  std::uint32_t replicas = 0;

  bool operator==(const Partition&) const = default;
};

/// One index.
struct Setting {
  layout::IndexKind kind = layout::IndexKind::graph;
  std::uint32_t degree = 0;  ///< of a graph, always CSR
  Partition partition;       ///< of clusters
  layout::ClusterLayoutKind layout = layout::ClusterLayoutKind::grouped;

  bool operator==(const Setting&) const = default;
};

/// "graph, degree 32"; "clusters of 100, R 8, grouped".
std::string to_string(const Setting& setting);

/// What is to be indexed, as a command line says it.
struct IndexedFile {
  std::string path;
  Metric metric = Metric::l2;
  std::uint64_t row_bytes = 0;  ///< of the file
};

/// The command that builds the whole index, but for --out.
std::string build_command(const Setting& setting, const IndexedFile& file,
                          const GraphRecipe& recipe);

}  // namespace farvec::cli
