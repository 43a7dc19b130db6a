// One slot's searches of a cluster index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/row_set.h"
#include "cluster/probe.h"
#include "search/cluster_index.h"
#include "search/graph_searcher.h"
#include "search/posting_plan.h"
#include "search/probe_counts.h"
#include "search/search_core.h"

namespace farvec::search {

/// Exact distances of one query.
struct VectorScorer {
  const ClusterIndex& index;
  const std::byte* query;

  void score(const VectorView& rows, std::span<const std::uint32_t> picks, float* out) const {
    index.kernel()(query, rows, picks, out);
  }
};

/// Source is a cluster::PostingSource with begin(task, options) and coverage().
template <typename Source>
class ClusterSearcher {
 public:
  ClusterSearcher(const ClusterIndex& index, const SearchCoreOptions& options, Source source)
      : index_(index),
        bounds_{.kind = layout::IndexKind::cluster,
                .vectors = index.count(),
                .clusters = options.max_probe},
        merge_gap_bytes_(options.merge_gap_bytes),
        probe_counts_(options.probe_counts),
        source_(std::move(source)) {}

  Status search(SearchTask& task) {
    if (Status status = task.parameters.check(bounds_); !status.ok()) return status;
    source_.begin(task, {task.parameters.probing().dedup, merge_gap_bytes_});
    const VectorScorer scorer{index_, task.query};
    const Status status = cluster::probe(source_, scorer, index_.centroids(), task.query,
                                         probe_parameters(task), scratch_);
    task.counts.clusters = scratch_.counts.clusters;
    task.counts.distances = scratch_.counts.distances;
    if (task.counts.lost > 0) task.coverage = source_.coverage();
    if (probe_counts_ != nullptr) count_probes();
    if (status.ok()) copy_results(scratch_.results, task);
    return status;
  }

  std::size_t dram_bytes() const { return scratch_.dram_bytes() + source_.dram_bytes(); }

 private:
  /// So many times more clusters are probed, or this many, while k vectors have not been found.
  static constexpr std::uint32_t kMoreTimes = 8;
  static constexpr std::uint32_t kMoreClusters = 64;

  /// Counts the clusters that were probed in all rounds of the search.
  void count_probes() const {
    const std::vector<cluster::NearCluster>& near = scratch_.centroids.found;
    for (std::uint32_t i = 0; i < scratch_.counts.clusters; ++i) {
      probe_counts_->add(near[i].cluster);
    }
  }

  cluster::ProbeParameters probe_parameters(const SearchTask& task) const {
    const ProbeChoice& choice = task.parameters.probing();
    const layout::ClusterGeometry& geometry = index_.locator().geometry();
    cluster::ProbeParameters parameters;
    parameters.k = task.parameters.k();
    parameters.clusters = choice.clusters;
    parameters.prune_ratio = choice.prune_ratio;
    parameters.most_clusters = std::max(choice.clusters * kMoreTimes, kMoreClusters);
    if (rows_left(index_.count(), task.out) < index_.count()) {
      parameters.most_clusters = std::max(parameters.most_clusters, bounds_.clusters);
    }
    parameters.out = task.out;
    parameters.cluster_count = geometry.clusters;
    parameters.vector_count = static_cast<std::uint32_t>(geometry.count);
    const std::uint64_t mean = geometry.members / geometry.clusters + 1;
    parameters.expected_members =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(mean * choice.clusters, 1u << 20));
    return parameters;
  }

  const ClusterIndex& index_;
  const SearchBounds bounds_;
  const std::optional<std::uint32_t> merge_gap_bytes_;
  const std::shared_ptr<ProbeCounts> probe_counts_;
  Source source_;
  cluster::ProbeScratch scratch_;
};

}  // namespace farvec::search
