// Searches a cluster index among rows whose addresses are known: no other vector is read for its
// own sake.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/coded_members.h"
#include "base/posting_block.h"
#include "base/status.h"
#include "cluster/cluster_matches.h"
#include "cluster/coded_probe.h"
#include "cluster/probe.h"

namespace farvec::cluster {

/// fetch() is that of a CodedSource.
template <typename Source>
concept MatchSource = requires(Source source, std::span<const std::uint32_t> addresses,
                               void (*fetched)(const PostingBlock&)) {
  { source.fetch(addresses, fetched) } -> std::same_as<Status>;
};

/// Puts the addresses of the matches at home in the clusters of scratch.clusters into `places`.
inline void gather_places(const ClusterMatches& matches, std::span<const ClusterId> clusters,
                          std::vector<std::uint32_t>& places) {
  places.clear();
  for (const ClusterId cluster : clusters) {
    const std::span<const std::uint32_t> own = matches.places_of(cluster);
    places.insert(places.end(), own.begin(), own.end());
  }
}

/// Reads the vectors at `places`, which are all matches, and keeps the k nearest. Suspends where
/// the source does. Returns its error, or data_loss for a record that is of another vector.
template <MatchSource Source, RowScorer Scorer>
Status compare_matches(Source& source, const Scorer& scorer, std::span<const std::uint32_t> places,
                       const ProbeParameters& parameters, ProbeScratch& scratch) {
  BlockScorer<Scorer> visit(scorer, scratch, true, parameters);
  if (Status status = source.fetch(places, visit); !status.ok()) return status;
  if (!visit.corrupt() && visit.out() == 0) return {};
  return {StatusCode::data_loss, "a record is of another vector than before"};
}

/// Estimates the members that match, and keeps those with the lowest estimates.
template <MemberEstimator Estimator>
class MatchScan {
 public:
  MatchScan(const Estimator& estimator, const ClusterMatches& matches, CodedScratch& scratch)
      : estimator_(estimator), matches_(matches), scratch_(scratch) {}

  void operator()(const CodedMembers& members) {
    const float distance = estimator_.distance(members.cluster);
    const std::span<const std::uint32_t> places = matches_.places_of(members.cluster);
    for_each_near(
        members.grouped,
        [&](std::uint32_t block, float* out) {
          return estimator_.estimate({members.codes, block, distance, scratch_.list.bound()}, out);
        },
        [&](std::uint32_t member, float estimate) {
          const std::uint32_t address = members.first + member;
          if (!(estimate < scratch_.list.bound())) return;
          if (!std::binary_search(places.begin(), places.end(), address)) return;
          scratch_.list.offer(estimate, address);
        });
    scratch_.estimates += members.grouped;
  }

 private:
  const Estimator& estimator_;
  const ClusterMatches& matches_;
  CodedScratch& scratch_;
};

/// Scans the codes of the clusters in scratch.probe.clusters, and keeps the addresses of the `list`
/// matches at home there with the lowest estimates in scratch.list.
template <CodedSource Source, MemberEstimator Estimator>
Status scan_matches(Source& source, const Estimator& estimator, const ClusterMatches& matches,
                    std::uint32_t list, CodedScratch& scratch) {
  scratch.list.reset(list);
  MatchScan<Estimator> scan(estimator, matches, scratch);
  return source.scan(scratch.probe.clusters, scan);
}

}  // namespace farvec::cluster
