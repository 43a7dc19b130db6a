// A ClusterSearcher runs one slot's searches of a cluster index.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/row_set.h"
#include "cluster/matched_probe.h"
#include "cluster/probe.h"
#include "search/core/search_core.h"
#include "search/index/cluster_index.h"
#include "search/searchers/graph_searcher.h"
#include "search/searchers/probe_counts.h"
#include "search/sources/posting_plan.h"

namespace farvec::search {

/// Returns the share of the rows that match a condition, in the clusters that hold any. Where the
/// matches lie together it is higher than in all clusters: it is the share with which matches
/// spread at random would lie in so few of them.
inline double share_where_held(const cluster::ClusterMatches& matches,
                               const layout::ClusterGeometry& geometry) {
  const auto rows = static_cast<double>(geometry.count);
  const double together = static_cast<double>(matches.count()) / std::max(matches.holding, 1u);
  const double spread = std::min(together, 2 * (together - 1)) * geometry.clusters / rows;
  return std::clamp(spread, static_cast<double>(matches.count()) / rows, 1.0);
}

/// Says of how many rows that match a search reads the home. A search without a condition compares
/// the members of the clusters that it probes. Where a share s of the rows matches, k of them reach
/// as far as k / s rows, in 1 / s times as many clusters or fewer: on sift1m's first 100,000 rows
/// s^0.6 times as many matches have a recall from 0.97 to 0.99 for all s from 0.001 to 0.5, where
/// 16 clusters without a condition have 0.98. Where clusters are read whole, each brings as many
/// matches that are at home elsewhere as there are replicas.
inline std::uint32_t wanted_matches(const SearchParameters& search,
                                    const cluster::ClusterMatches& matches,
                                    const layout::ClusterGeometry& geometry) {
  constexpr double kShrinks = 0.6;
  constexpr std::uint32_t kLeastPerResult = 8;
  const std::uint64_t rows = matches.has_places() ? geometry.members : geometry.count;
  const double mean = static_cast<double>(rows) / geometry.clusters;
  const double most = std::min<double>(search.probing().clusters * mean, 1u << 30);
  const double wanted = most * std::pow(share_where_held(matches, geometry), kShrinks);
  return std::max(static_cast<std::uint32_t>(std::ceil(wanted)),
                  kLeastPerResult * std::min(search.k(), 1u << 20));
}

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
    parameters.every = request.exact;
    parameters.lost = &lost;
    parameters.matches = request.matches;
    if (request.matches != nullptr) {
      parameters.wanted_matches = wanted_matches(request.parameters, *request.matches, geometry);
    }
    parameters.cluster_count = geometry.clusters;
    parameters.vector_count = static_cast<std::uint32_t>(geometry.count);
    const std::uint64_t mean = geometry.members / geometry.clusters + 1;
    const std::uint64_t probed = request.exact ? geometry.clusters : choice.clusters;
    parameters.expected_members =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(mean * probed, 1u << 20));
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
    const cluster::ProbeParameters parameters =
        frame_.probe_parameters(request, answer.counts.lost);
    const bool by_place = request.matches != nullptr && request.matches->has_places();
    const Status status = by_place ? compare(request, parameters) : probe(request, parameters);
    if (answer.counts.lost > 0) answer.coverage = source_.coverage();
    frame_.finish(status, scratch_, answer);
    return status;
  }

  std::size_t dram_bytes() const {
    return scratch_.dram_bytes() + source_.dram_bytes() +
           places_.capacity() * sizeof(std::uint32_t);
  }

 private:
  Status probe(const SearchRequest& request, const cluster::ProbeParameters& parameters) {
    return cluster::probe(source_, VectorScorer{index_, request.query}, index_.centroids(),
                          request.query, parameters, scratch_);
  }

  /// Compares the matches of the clusters that are nearest, one by one.
  Status compare(const SearchRequest& request, const cluster::ProbeParameters& parameters) {
    cluster::ProbeRounds rounds(index_.centroids(), request.query, parameters, scratch_);
    if (!rounds.next()) return {};
    cluster::gather_places(*request.matches, scratch_.clusters, places_);
    return cluster::compare_matches(source_, VectorScorer{index_, request.query}, places_,
                                    parameters, scratch_);
  }

  const ClusterIndex& index_;
  const ClusterFrame frame_;
  Source source_;
  cluster::ProbeScratch scratch_;
  std::vector<std::uint32_t> places_;
};

}  // namespace farvec::search
