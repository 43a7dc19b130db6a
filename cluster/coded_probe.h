// coded_probe() searches coded clusters over any CodedSource: first the codes of the nearest
// clusters, then the vectors of the members that the codes say are near.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/coded_source.h"
#include "cluster/probe.h"
#include "cluster/shortlist.h"
#include "quantization/neighbor_codes.h"

namespace farvec::cluster {

/// Estimates for one query: distance() is the distance of a cluster's centroid, on which the
/// estimates of its members build; estimate() is NeighborCodes::estimate().
template <typename Estimator>
concept MemberEstimator = requires(const Estimator& estimator, ClusterId cluster,
                                   const quantization::NeighborCodes::Block& block, float* out) {
  { estimator.distance(cluster) } -> std::same_as<float>;
  { estimator.estimate(block, out) } -> std::same_as<std::uint32_t>;
};

struct CodedParameters {
  ProbeParameters probe;
  std::uint32_t list = 100;  ///< L: number of vectors that are read
  double copies = 1;         ///< the number of clusters that a vector is in, on average
};

/// A CodedScratch is the working memory of one search, reused between searches.
struct CodedScratch {
  ProbeScratch probe;
  Shortlist list;
  std::vector<ClusterId> clusters;  ///< clusters of all rounds
  std::uint64_t estimates = 0;

  std::size_t dram_bytes() const {
    return probe.dram_bytes() + list.dram_bytes() + clusters.capacity() * sizeof(ClusterId);
  }
};

/// Estimates members as they come and keeps those with the lowest estimates.
template <MemberEstimator Estimator>
class MemberScan {
 public:
  MemberScan(const Estimator& estimator, bool replicated, std::uint32_t list, CodedScratch& scratch)
      : estimator_(estimator), scratch_(scratch), replicated_(replicated) {
    scratch.list.reset(list);
    if (replicated) scratch.probe.seen.reset(kSeenPerKept * list);
  }

  void operator()(const CodedMembers& members) {
    const float distance = estimator_.distance(members.cluster);
    for_each_near(
        members.size(),
        [&](std::uint32_t block, float* out) {
          return estimator_.estimate({members.codes, block, distance, scratch_.list.bound()}, out);
        },
        [&](std::uint32_t member, float estimate) { keep(estimate, members.address(member)); });
    scratch_.estimates += members.size();
    scanned_ += members.size();
  }

  std::uint64_t scanned() const { return scanned_; }

 private:
  /// For a vector that is in several clusters the estimate from the nearest one counts: it comes
  /// first, and its code has the shortest residual.
  void keep(float estimate, std::uint32_t address) {
    if (!(estimate < scratch_.list.bound())) return;
    if (replicated_ && !scratch_.probe.seen.insert(address)) return;
    scratch_.list.offer(estimate, address);
  }

  /// The number of members that pass the sinking bound, over the number that is kept in the end.
  static constexpr std::uint32_t kSeenPerKept = 8;

  const Estimator& estimator_;
  CodedScratch& scratch_;
  const bool replicated_;
  std::uint64_t scanned_ = 0;
};

/// Says how many of the `scanned` vectors, whose codes were scanned, are out. For those that were
/// read it is known. For the others the share is assumed that vectors which are out have among all
/// that were not read.
template <typename Visit>
double expect_out(double scanned, const ProbeParameters& parameters, const Visit& visit) {
  const auto read = static_cast<double>(visit.scored());
  const auto out = static_cast<double>(visit.out());
  const double others = parameters.vector_count - read;
  if (parameters.out == nullptr || others <= 0 || scanned <= read) return out;
  const double others_out = static_cast<double>(parameters.out->count()) - out;
  return out + (scanned - read) * std::max(others_out, 0.0) / others;
}

/// Scans the codes of the clusters that `rounds` names, reads the vectors of the `list` lowest
/// estimates and keeps the k nearest of them, in one round. It makes further rounds, with more
/// clusters (see ProbeRounds) or with a longer list, in two cases: some of the vectors read are out
/// and fewer than `list` are not; or fewer than k vectors were found, and not all that are not out.
/// So scratch.probe.results holds fewer than k only when the index has no more. Suspends where the
/// source does. Returns its error, or data_loss for a record of a vector that does not exist.
template <CodedSource Source, MemberEstimator Estimator, RowScorer Scorer>
Status coded_probe(Source& source, const Estimator& estimator, const Scorer& scorer,
                   ProbeRounds& rounds, const CodedParameters& parameters, CodedScratch& scratch) {
  ProbeScratch& probe = scratch.probe;
  scratch.clusters.clear();
  scratch.estimates = 0;
  BlockScorer<Scorer> visit(scorer, probe, true, parameters.probe);
  const std::uint32_t places = std::max(parameters.list, parameters.probe.k);
  std::uint64_t list = places;
  for (bool probing = true;;) {
    const bool more = probing && rounds.next();
    if (more) {
      scratch.clusters.insert(scratch.clusters.end(), probe.clusters.begin(), probe.clusters.end());
    }
    MemberScan<Estimator> scan(estimator, parameters.copies > 1, static_cast<std::uint32_t>(list),
                               scratch);
    if (Status status = source.scan(scratch.clusters, scan); !status.ok()) return status;
    const std::span<const std::uint32_t> kept = scratch.list.take();
    if (Status status = source.fetch(kept, visit); !status.ok()) return status;
    if (visit.corrupt()) {
      return {StatusCode::data_loss, "a record names a vector that does not exist"};
    }
    const auto read = static_cast<double>(visit.scored());
    double scanned = read;
    if (scan.scanned() > list) {
      scanned = std::max(read, static_cast<double>(scan.scanned()) / parameters.copies);
    }
    probing = !rounds.complete(scanned, expect_out(scanned, parameters.probe, visit));
    const std::uint64_t counting = visit.scored() - visit.out();
    const bool reading = visit.out() > 0 && counting < places && !rounds.found_all();
    if (!rounds.lacking() && !reading && (!probing || !more)) return {};
    // Where the list is not full, it has every vector of these clusters. There may be fewer than
    // were scanned, which counts a vector once for each cluster that has it.
    if (kept.size() < list && (!probing || !more)) return {};
    if (rounds.lacking() || reading) {
      const std::uint64_t longer = list * places / std::max<std::uint64_t>(counting, 1) + 1;
      list = std::min(rounds.lacking() ? 2 * list : std::min(2 * list, longer),
                      2 * std::uint64_t{parameters.probe.vector_count});
    }
  }
}

}  // namespace farvec::cluster
