// These functions make a cluster index from rows: balanced clusters with replicas, a graph over
// their centroids, and vectors grouped by cluster.
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

/// Returns how many clusters of `rows_per_cluster` vectors each (without replicas) the rows make.
std::uint32_t cluster_count(std::size_t rows, std::uint64_t rows_per_cluster);

/// The ratio of clusters to vectors where the caller gives none. The number is SPANN's.
inline constexpr double kHeadRatio = 0.16;

/// A ClusterNumber says how many clusters there are to be. At most one of the three members is
/// given, the others are 0; without any of them it is kHeadRatio.
struct ClusterNumber {
  std::uint32_t clusters = 0;
  std::uint64_t bytes = 0;  ///< bytes of the vectors whose own cluster it is, on average
  double head_ratio = 0;    ///< clusters over vectors, at most 1

  bool is_said_once_at_most() const;
  /// Returns the defaults where the caller names no heads and no rule. A ratio, or nothing at all,
  /// asks for many small clusters, which get `vectors` and `sptag`; a number or bytes ask for fewer
  /// and larger ones, which get `means` and `fitted`.
  HeadKind heads() const;
  ClosureRule closure() const;
  /// Throws Error for a ratio out of range.
  std::uint32_t of(const VectorView& rows) const;
};

/// A QuerySample is a sample of queries. Vectors are grouped by the clusters that it probes.
struct QuerySample {
  VectorView queries;        ///< stored type
  std::uint32_t probe = 32;  ///< clusters that each of them probes
};

/// BuiltClusters are finished clusters of the rows of a source, to be written in one layout or in
/// several.
struct BuiltClusters {
  Source source;  ///< its manifest says how the clusters were built
  cluster::Clustering clusters;
  cluster::ClusteringStats stats;
  graph::Graph centroids{0, 1};
  std::vector<ClusterId> homes;  ///< homes[v] is the cluster that vector v is stored with
};

/// Returns the home of every vector, chosen as if queries came from where there are many vectors.
std::vector<ClusterId> expected_homes(const cluster::Clustering& clusters, unsigned threads);

/// Builds clusters and gives each vector a home: that of its clusters which the sample probes most.
/// Among equals, and without a sample, it is the one with most members, as if queries came from
/// where there are many vectors. Throws Error where cluster::build_clusters() does, and for a
/// sample of no queries, of no probes, or of another type or dimension. The rows may be a mapped
/// file.
BuiltClusters build_clusters(Source source, const cluster::ClusteringOptions& options,
                             const std::optional<QuerySample>& sample = std::nullopt);

/// Bits per dimension of the codes of members, unless others are asked for.
inline constexpr std::uint32_t kMemberCodeBits = 2;

/// A ClusterRecipe says how built clusters are stored.
struct ClusterRecipe {
  layout::ClusterLayoutKind layout = layout::ClusterLayoutKind::grouped;
  bool record_checksum = false;
  /// Bits per dimension in the coded layout, 1 to 4; none: kMemberCodeBits, or more where the data
  /// needs more.
  std::optional<std::uint32_t> code_bits = std::nullopt;
};

/// Returns the manifest as written. Throws Error where layout::write_index() does; then nothing is
/// left on disk.
layout::Manifest write_clusters(const std::filesystem::path& directory, const BuiltClusters& built,
                                const ClusterRecipe& recipe, const layout::WriteOptions& options);

}  // namespace farvec::indexing
