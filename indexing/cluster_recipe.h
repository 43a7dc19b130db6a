// From rows to a cluster index: balanced clusters with replicas, a graph over their centroids, and
// vectors grouped by cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/types.h"
#include "cluster/clustering.h"
#include "graph/graph.h"
#include "indexing/source.h"
#include "layout/cluster/cluster_layout.h"
#include "layout/index/index_writer.h"

namespace farvec::indexing {

/// How many clusters of so many vectors each (without replicas) the rows make.
std::uint32_t cluster_count(std::size_t rows, std::uint64_t rows_per_cluster);

/// Clusters over vectors where nobody says how many; SPANN's.
inline constexpr double kHeadRatio = 0.16;

/// How many clusters, said in at most one of three ways; the others are 0. Without any, kHeadRatio.
struct ClusterNumber {
  std::uint32_t clusters = 0;
  std::uint64_t bytes = 0;  ///< of the vectors that have one cluster as their own, on average
  double head_ratio = 0;    ///< clusters over vectors, at most 1

  bool is_said_once_at_most() const;
  /// Where nobody says them: `vectors` and `sptag` for many small clusters, by a ratio or by none;
  /// `means` and `fitted` for the fewer and larger that are asked for by number or bytes.
  HeadKind heads() const;
  ClosureRule closure() const;
  /// Throws Error for a ratio out of range.
  std::uint32_t of(const VectorView& rows) const;
};

/// A sample of queries, by whose probes vectors are grouped.
struct QuerySample {
  VectorView queries;        ///< stored type
  std::uint32_t probe = 32;  ///< clusters that each of them probes
};

/// Finished clusters of the rows of a source, to be written in one layout or in several.
struct BuiltClusters {
  Source source;  ///< its manifest says how the clusters were built
  cluster::Clustering clusters;
  cluster::ClusteringStats stats;
  graph::Graph centroids{0, 1};
  std::vector<ClusterId> homes;  ///< of every vector: the cluster that it is stored with
};

/// The home of every vector, as if queries came from where there are many vectors.
std::vector<ClusterId> expected_homes(const cluster::Clustering& clusters, unsigned threads);

/// Clusters, and gives each vector a home: of its clusters the one that the sample probes most and,
/// of equals and without a sample, has most members, as if queries came from where there are many
/// vectors. Throws Error as cluster::build_clusters() does, and for a sample of no queries, of no
/// probes, or of another type or dimension. The rows may be a mapped file.
BuiltClusters build_clusters(Source source, const cluster::ClusteringOptions& options,
                             const std::optional<QuerySample>& sample = std::nullopt);

/// Bits per dimension of the codes of members, unless somebody asks for others.
inline constexpr std::uint32_t kMemberCodeBits = 2;

/// What becomes of built clusters.
struct ClusterRecipe {
  layout::ClusterLayoutKind layout = layout::ClusterLayoutKind::grouped;
  bool record_checksum = false;
  /// Per dimension, of the coded layout: 1 to 4; none: kMemberCodeBits, or more where the data
  /// needs more.
  std::optional<std::uint32_t> code_bits = std::nullopt;
};

/// Returns the manifest as written. Throws Error as layout::write_index() does; then nothing is
/// left behind.
layout::Manifest write_clusters(const std::filesystem::path& directory, const BuiltClusters& built,
                                const ClusterRecipe& recipe, const layout::WriteOptions& options);

}  // namespace farvec::indexing
