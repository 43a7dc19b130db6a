// An Assignment puts every row of a data set into its clusters, chunk by chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/progress.h"
#include "cluster/centroid_index.h"
#include "cluster/clustering.h"
#include "cluster/space.h"

namespace farvec::cluster {

/// The clusters nearest to a row are chosen among this many, which suffices for replicas (as in
/// SPTAG), and among fewer when a row is in one cluster only.
inline constexpr std::uint32_t kCandidates = 64;
inline constexpr std::uint32_t kCandidatesOfOne = 16;

/// build_clusters() has the rules. An object is used once.
class Assignment {
 public:
  /// `centroids` are rows of space.dimension() floats. Keeps both references.
  Assignment(const Space& space, std::vector<float>& centroids, const ClusteringOptions& options,
             const char* label = "assignment");

  /// Fills `result.begins` and `result.clusters`, moves the centroids of clusters that would stay
  /// empty, and adds to the counts of `stats`.
  void run(Clustering& result, ClusteringStats& stats);

 private:
  struct Worker {
    std::vector<float> row;
    CentroidScratch scratch;
  };
  struct Candidates {
    std::uint32_t count = 0;
    std::uint32_t chosen = 0;  ///< clusters of the row, in `chosen_`
    NearCluster near[kCandidates];
  };

  float ratio_of_closure();
  float choose_ratio();
  void search(std::size_t row, Worker& worker, Candidates& out) const;
  NearCluster take_place(std::size_t row, const Candidates& candidates);
  NearCluster nearest_open(std::size_t row);
  void choose_replicas(NearCluster own, Candidates& candidates, ClusterId* out) const;
  void assign_chunk(std::size_t begin, std::size_t end, Clustering& result, Progress& progress);
  void refill_empty(Clustering& result);
  void give(NodeId row, ClusterId cluster, Clustering& result);
  const float* centroid(ClusterId c) const {
    return &centroids_[c * std::size_t{space_.dimension()}];
  }

  const char* const label_;  ///< label of the progress line
  const Space& space_;
  std::vector<float>& centroids_;
  const ClusteringOptions options_;
  const std::uint32_t clusters_;
  const unsigned threads_;
  const std::uint64_t capacity_;
  const distance::PairKernel pair_;
  const distance::ManyKernel many_;
  const CentroidIndex index_;
  float closure_ratio_;
  std::vector<std::uint32_t> own_;  ///< vectors that have each cluster as their own
  std::vector<NodeId> open_;        ///< clusters with room, computed only as far as needed
  std::vector<Worker> workers_;
  std::vector<Candidates> candidates_;
  std::vector<NearCluster> places_;
  std::vector<ClusterId> chosen_;  ///< `replicas` slots for each row of the chunk
  std::uint64_t displaced_ = 0;
  std::uint64_t refilled_ = 0;
};

}  // namespace farvec::cluster
