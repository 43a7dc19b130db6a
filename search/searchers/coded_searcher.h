// A CodedSearcher runs one slot's searches of an index of coded clusters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/coded_probe.h"
#include "cluster/matched_probe.h"
#include "search/searchers/cluster_searcher.h"

namespace farvec::search {

/// Estimates the distances from one query to the members of clusters.
struct MemberCodeScorer {
  const ClusterIndex& index;
  const quantization::NeighborQuery& prepared;
  const float* query;  ///< the query as floats

  float distance(ClusterId cluster) const {
    return index.centroid_kernel()(query, index.centroids().centroid(cluster), index.dimension());
  }
  std::uint32_t estimate(const quantization::NeighborCodes::Block& block, float* out) const {
    return index.codes()->estimate(prepared, block, out);
  }
};

/// Source is a cluster::CodedSource with begin(request, counts, options) and coverage().
template <typename Source>
class CodedSearcher {
 public:
  CodedSearcher(const ClusterIndex& index, const SearchCoreOptions& options, Source source)
      : index_(index), frame_(index, options), source_(std::move(source)) {}

  Status search(const SearchRequest& request, SearchAnswer& answer) {
    if (Status status = frame_.check(request); !status.ok()) return status;
    source_.begin(request, answer.counts, reading(request.parameters));
    prepare(request.query);
    const cluster::CodedParameters parameters = coded_parameters(request, answer.counts.lost);
    cluster::ProbeRounds rounds(index_.centroids(), request.query, parameters.probe,
                                scratch_.probe);
    const bool by_place = request.matches != nullptr && request.matches->has_places();
    const Status status =
        by_place ? compare(request, parameters, rounds) : probe(request, parameters, rounds);
    answer.counts.estimates += scratch_.estimates;
    if (answer.counts.lost > 0) answer.coverage = source_.coverage();
    frame_.finish(status, scratch_.probe, answer);
    return status;
  }

  std::size_t dram_bytes() const {
    return scratch_.dram_bytes() + source_.dram_bytes() + query_.capacity() * sizeof(float) +
           places_.capacity() * sizeof(std::uint32_t);
  }

 private:
  Status probe(const SearchRequest& request, const cluster::CodedParameters& parameters,
               cluster::ProbeRounds& rounds) {
    return cluster::coded_probe(source_, MemberCodeScorer{index_, prepared_, query_.data()},
                                VectorScorer{index_, request.query}, rounds, parameters, scratch_);
  }

  /// Compares the matches of the clusters that are nearest: those whose codes are nearest, or all
  /// where these are cheaper to read than codes.
  Status compare(const SearchRequest& request, const cluster::CodedParameters& parameters,
                 cluster::ProbeRounds& rounds) {
    scratch_.estimates = 0;
    if (!rounds.next()) return {};
    cluster::gather_places(*request.matches, scratch_.probe.clusters, places_);
    std::span<const std::uint32_t> places = places_;
    const std::uint32_t list = std::max(parameters.list, parameters.probe.k);
    if (!request.exact && list < places.size() && codes_cost(list) < cost(places.size())) {
      const Status status =
          cluster::scan_matches(source_, MemberCodeScorer{index_, prepared_, query_.data()},
                                *request.matches, list, scratch_);
      if (!status.ok()) return status;
      places = scratch_.list.take();
    }
    return cluster::compare_matches(source_, VectorScorer{index_, request.query}, places,
                                    parameters.probe, scratch_.probe);
  }

  /// A read costs as much as this number of bytes more in another one.
  static constexpr std::uint64_t kReadCost = 512;

  std::uint64_t cost(std::uint64_t vectors) const {
    return vectors * (kReadCost + index_.locator().geometry().record_bytes());
  }
  /// Returns the cost of the codes of the clusters, and of a list.
  std::uint64_t codes_cost(std::uint32_t list) const {
    std::uint64_t sum = cost(list);
    for (const ClusterId cluster : scratch_.probe.clusters) {
      sum += kReadCost + index_.locator().list(cluster).bytes;
    }
    return sum;
  }

  void prepare(const std::byte* query) {
    index_.codes()->prepare(query, prepared_);
    query_.resize(index_.dimension());
    distance::widen(query, index_.type(), index_.dimension(), query_.data());
  }

  /// With dedup, no vector is read twice; without it, each read brings one vector.
  PostingPlanOptions reading(const SearchParameters& search) const {
    PostingPlanOptions options{.dedup = true, .merge_gap_bytes = std::nullopt};
    if (search.probing().dedup) options.merge_gap_bytes = frame_.merge_gap_bytes();
    return options;
  }

  /// Returns the parameters of a probe. The list is no longer than the number of vectors in the
  /// clusters that may be probed. That of an exact search keeps all vectors, whatever their codes
  /// say.
  cluster::CodedParameters coded_parameters(const SearchRequest& request,
                                            const std::uint64_t& lost) const {
    const layout::ClusterGeometry& geometry = index_.locator().geometry();
    return {.probe = frame_.probe_parameters(request, lost),
            .list = static_cast<std::uint32_t>(
                request.exact
                    ? geometry.count
                    : std::min<std::uint64_t>(request.parameters.probing().list, geometry.count)),
            .copies = static_cast<double>(geometry.members) / static_cast<double>(geometry.count)};
  }

  const ClusterIndex& index_;
  const ClusterFrame frame_;
  Source source_;
  cluster::CodedScratch scratch_;
  std::vector<std::uint32_t> places_;
  quantization::NeighborQuery prepared_;
  std::vector<float> query_;
};

}  // namespace farvec::search
