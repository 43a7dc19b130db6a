// A ClusterSearcher runs one slot's searches of a cluster index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/row_set.h"
#include "cluster/probe.h"
#include "search/core/search_core.h"
#include "search/index/cluster_index.h"
#include "search/searchers/graph_searcher.h"
#include "search/searchers/probe_counts.h"
#include "search/sources/posting_plan.h"

namespace farvec::search {

/// Scores with exact distances from one query.
struct VectorScorer {
  const ClusterIndex& index;
  const std::byte* query;

  void score(const VectorView& rows, std::span<const std::uint32_t> picks, float* out) const {
    index.kernel()(query, rows, picks, out);
  }
};

/// A ClusterFrame has what all searches of clusters have in common, whatever a probe reads.
class ClusterFrame {
 public:
  ClusterFrame(const ClusterIndex& index, const SearchCoreOptions& options)
      : index_(index),
        bounds_{.kind = layout::IndexKind::cluster,
                .vectors = index.count(),
                .clusters = options.max_probe},
        merge_gap_bytes_(options.merge_gap_bytes),
        probe_counts_(options.probe_counts) {}

  Status check(const SearchRequest& request) const {
    if (request.is_among_rows()) {
      return {StatusCode::invalid_argument,
              "an index of clusters cannot be searched among given rows: say which rows are out"};
    }
    return request.parameters.check(bounds_);
  }
  std::optional<std::uint32_t> merge_gap_bytes() const { return merge_gap_bytes_; }

  /// A search that loses reads counts them in `lost`, which the probe watches.
  cluster::ProbeParameters probe_parameters(const SearchRequest& request,
                                            const std::uint64_t& lost) const {
    const ProbeChoice& choice = request.parameters.probing();
    const layout::ClusterGeometry& geometry = index_.locator().geometry();
    cluster::ProbeParameters parameters;
    parameters.k = request.parameters.k();
    parameters.clusters = choice.clusters;
    parameters.prune_ratio = choice.prune_ratio;
    parameters.out = request.out;
    parameters.lost = &lost;
    parameters.cluster_count = geometry.clusters;
    parameters.vector_count = static_cast<std::uint32_t>(geometry.count);
    const std::uint64_t mean = geometry.members / geometry.clusters + 1;
    parameters.expected_members =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(mean * choice.clusters, 1u << 20));
    return parameters;
  }

  /// Records what a search has cost, and its answer.
  void finish(const Status& status, const cluster::ProbeScratch& scratch,
              SearchAnswer& answer) const {
    answer.counts.clusters = scratch.cost.clusters;
    answer.counts.distances = scratch.cost.distances;
    answer.counts.centroid_distances = scratch.cost.centroids.distances;
    answer.counts.centroid_estimates = scratch.cost.centroids.estimates;
    if (probe_counts_ != nullptr) count_probes(scratch);
    if (status.ok()) copy_results(scratch.results, answer);
  }

 private:
  /// Counts the clusters that were probed in all rounds of the search.
  void count_probes(const cluster::ProbeScratch& scratch) const {
    for (const ClusterId cluster : scratch.probed) probe_counts_->add(cluster);
  }

  const ClusterIndex& index_;
  const SearchBounds bounds_;
  const std::optional<std::uint32_t> merge_gap_bytes_;
  const std::shared_ptr<ProbeCounts> probe_counts_;
};

/// Source is a cluster::PostingSource with begin(request, counts, options) and coverage().
template <typename Source>
class ClusterSearcher {
 public:
  ClusterSearcher(const ClusterIndex& index, const SearchCoreOptions& options, Source source)
      : index_(index), frame_(index, options), source_(std::move(source)) {}

  Status search(const SearchRequest& request, SearchAnswer& answer) {
    if (Status status = frame_.check(request); !status.ok()) return status;
    source_.begin(request, answer.counts,
                  {request.parameters.probing().dedup, frame_.merge_gap_bytes()});
    const VectorScorer scorer{index_, request.query};
    const Status status =
        cluster::probe(source_, scorer, index_.centroids(), request.query,
                       frame_.probe_parameters(request, answer.counts.lost), scratch_);
    if (answer.counts.lost > 0) answer.coverage = source_.coverage();
    frame_.finish(status, scratch_, answer);
    return status;
  }

  std::size_t dram_bytes() const { return scratch_.dram_bytes() + source_.dram_bytes(); }

 private:
  const ClusterIndex& index_;
  const ClusterFrame frame_;
  Source source_;
  cluster::ProbeScratch scratch_;
};

}  // namespace farvec::search
