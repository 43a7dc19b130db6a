// Builds the clusters of an index: balanced k-means, then every vector into its clusters.
// Sources: Chen et al., SPANN (NeurIPS 2021) for balanced hierarchical k-means and closure
// assignment with the relative-neighbourhood rule; its SPTAG code for the bounds used in practice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cluster_words.h"
#include "base/membership.h"
#include "base/progress.h"
#include "base/types.h"

namespace farvec::cluster {

/// R: more replicas than this bring no gain.
inline constexpr std::uint32_t kMaxReplicas = 8;

struct ClusteringOptions {
  std::uint32_t clusters = 0;  ///< exactly this many are made; 1 to the number of vectors
  std::uint32_t replicas = 8;  ///< R: the most clusters per vector, 1 to kMaxReplicas
  HeadKind heads = HeadKind::means;
  ClosureRule closure = ClosureRule::fitted;
  /// A replica's centroid is at most this many times as far from the vector as the nearest one. 0:
  /// the closure decides; with `fitted` it is chosen such that vectors are in about (R + 1) / 2
  /// clusters on average, before the next rule.
  float closure_ratio = 0;
  /// A vector goes to a further cluster only when that centroid is nearer to the vector than this
  /// many times its distance from the centroid of each of the vector's clusters before it, or, for
  /// `spann`, of the candidate before it. 1 is the relative-neighbourhood rule; more keeps more
  /// replicas. 0: the closure decides.
  float rng_factor = 0;
  /// The largest number of vectors that have one cluster as their own, over the mean; >= 1.
  float balance = 2.0f;
  /// Rows that the k-means uses. 0: 64 for every cluster, as far as a quarter of memory holds them.
  std::size_t sample = 0;
  /// Rounds in which all centroids together are moved to the means of their rows in the sample.
  std::uint32_t refinements = 2;
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< 0: all processors
  bool quiet = false;    ///< no progress lines
  Interruption interrupted = {};
  /// Rows that are assigned at once; the result does not depend on it.
  std::size_t chunk_rows = 65536;
};

/// Returns rng_factor, or the closure's value when that is 0.
float rng_factor_of(const ClusteringOptions& options);

struct ClusteringStats {
  double training_seconds = 0;
  double assignment_seconds = 0;
  float closure_ratio = 0;        ///< the given value, or the chosen one
  float rng_factor = 0;           ///< the given value, or the closure's
  std::size_t sample = 0;         ///< rows that the k-means used
  std::uint64_t displaced = 0;    ///< vectors whose nearest cluster had no room
  std::uint64_t refilled = 0;     ///< clusters that were nearest to no vector and were given one
  std::uint64_t memberships = 0;  ///< sum over all vectors and clusters
  std::uint64_t largest_own = 0;  ///< most vectors that have one cluster as their own
  std::uint64_t largest_cluster = 0;  ///< most vectors in one cluster
};

/// Owns the result. The space is that of graph::BuildSpace: the vectors themselves, with one more
/// coordinate for inner_product.
struct Clustering {
  std::uint32_t space_dimension = 0;
  std::vector<float> centroids;       ///< clusters x space_dimension
  std::vector<std::uint64_t> begins;  ///< see MembershipView
  std::vector<ClusterId> clusters;

  MembershipView membership() const { return {begins, clusters}; }
  std::size_t count() const {
    return space_dimension == 0 ? 0 : centroids.size() / space_dimension;
  }
};

/// Clusters all rows of `data` (stored type, finite; may be a mapped file larger than memory: rows
/// are read in ascending order, once for the sample, once for the assignment, and once before for
/// inner_product's largest norm).
///
/// The k-means splits a sample into up to 32 parts, and each part again, until there are exactly
/// `clusters` of them; no part of a split may exceed its share. Heads that are vectors are rows of
/// the sample: in each part the row nearest to the mean. Then every row, in the order of ids,
/// becomes the own vector of the nearest cluster that has room, and a replica in further clusters
/// by closure_ratio and rng_factor. The nearest is chosen among the 64 that a search of the
/// centroid graph finds (16 for one replica); when none of these has room, among all. No cluster is
/// without a vector of its own: a cluster that would be takes a vector of the largest cluster, and
/// that vector as its centroid. Equal vectors may therefore be in several clusters whose centroids
/// are equal.
///
/// The result is the same for the same data and options, whatever the number of threads and the
/// chunk. Peak memory: sample * (4 * space_dimension + 24) bytes while training; afterwards 4 *
/// replicas + 8 bytes for each vector; in both 600 bytes for each row of a chunk, and centroids
/// twice with graph and codes (about 9 * space_dimension + 200 bytes each).
///
/// Throws Error for options out of range and for fewer vectors than clusters, and WorkInterrupted.
Clustering build_clusters(VectorView data, Metric metric, const ClusteringOptions& options,
                          ClusteringStats* stats = nullptr);

}  // namespace farvec::cluster
