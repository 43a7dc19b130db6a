// probe() searches a cluster index over any PostingSource: it finds the nearest vectors of the
// nearest clusters.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/posting_block.h"
#include "base/row_set.h"
#include "base/status.h"
#include "cluster/centroid_index.h"
#include "cluster/cluster_matches.h"
#include "cluster/posting_source.h"
#include "graph/candidate_list.h"
#include "graph/visited_filter.h"

namespace farvec::cluster {

/// Gives exact distances from one query to rows of a view.
template <typename Scorer>
concept RowScorer = requires(const Scorer& scorer, const VectorView& rows,
                             std::span<const std::uint32_t> picks, float* out) {
  scorer.score(rows, picks, out);
};

struct ProbeParameters {
  std::uint32_t k = 10;
  /// The most clusters to probe, as long as k vectors are found. Where members are out, further
  /// clusters are probed in their place.
  std::uint32_t clusters = 16;
  /// Clusters whose centroid is more than this many times as far as the nearest one's are left out
  /// (distances, not their squares); infinity keeps all.
  float prune_ratio = std::numeric_limits<float>::infinity();
  std::uint32_t cluster_count = 0;  ///< clusters in the index
  std::uint32_t vector_count = 0;   ///< vectors in the index; an id at or beyond it is corruption
  /// Vectors that are not results; null: every vector may be one.
  const RowSet* out = nullptr;
  /// Where the vectors that are not out are; null: not known. Clusters without any are then not
  /// probed and do not count. One round probes as many clusters as were asked for, or more: until
  /// they are home of wanted_matches, and of k. prune_ratio leaves out none of these.
  const ClusterMatches* matches = nullptr;
  std::uint32_t wanted_matches = 0;
  /// One round probes every cluster, or every one that holds matches, and ranks no centroid.
  bool every = false;
  /// Counts reads that could not be delivered; null: none is lost. When some are lost, only a
  /// limited number of further clusters is probed in their place.
  const std::uint64_t* lost = nullptr;
  /// About how many members the probed clusters have, to size the memory of vectors that were seen.
  std::uint32_t expected_members = 1u << 14;
};

/// What one search of clusters has cost.
struct ProbeCost {
  std::uint32_t clusters = 0;   ///< clusters probed
  std::uint32_t distances = 0;  ///< exact distances to members
  CentroidCounts centroids;     ///< counts of all rounds
};

/// A ProbeScratch is the working memory of one search, reused between searches.
struct ProbeScratch {
  CentroidScratch centroids;
  graph::CandidateList results;  ///< the answer: nearest first
  graph::VisitedFilter seen;
  std::vector<ClusterId> clusters;  ///< clusters of this round
  std::vector<ClusterId> probed;    ///< clusters of all rounds, ascending
  std::vector<std::uint32_t> fresh;
  std::vector<float> distances;
  ProbeCost cost;

  std::size_t dram_bytes() const {
    return centroids.dram_bytes() + results.dram_bytes() + seen.dram_bytes() +
           (clusters.capacity() + probed.capacity()) * sizeof(ClusterId) +
           fresh.capacity() * sizeof(std::uint32_t) + distances.capacity() * sizeof(float);
  }
};

/// Scores blocks as they come and keeps the nearest.
template <RowScorer Scorer>
class BlockScorer {
 public:
  BlockScorer(const Scorer& scorer, ProbeScratch& scratch, bool distinct,
              const ProbeParameters& parameters)
      : scorer_(scorer),
        scratch_(scratch),
        distinct_(distinct),
        vector_count_(parameters.vector_count),
        out_(parameters.out != nullptr && !parameters.out->empty() ? parameters.out : nullptr) {
    scratch.distances.resize(kRun);
  }

  /// Returns the number of members that were scored, and of those of them that are out.
  std::uint64_t scored() const { return scratch_.cost.distances; }
  std::uint64_t out() const { return outs_; }

  /// Says whether a record named a vector that does not exist.
  bool corrupt() const { return corrupt_; }

  void operator()(const PostingBlock& block) {
    std::span<const std::uint32_t> picks = block.picks;
    if (!distinct_) picks = leave_out_seen(block);
    for (std::size_t begin = 0; begin < picks.size(); begin += kRun) {
      score(block, picks.subspan(begin, std::min(kRun, picks.size() - begin)));
    }
    scratch_.cost.distances += static_cast<std::uint32_t>(picks.size());
  }

 private:
  static constexpr std::size_t kRun = 256;

  /// A replica that was scored in another cluster need not be scored again.
  std::span<const std::uint32_t> leave_out_seen(const PostingBlock& block) {
    if (scratch_.fresh.size() < block.picks.size()) scratch_.fresh.resize(block.picks.size());
    std::uint32_t* const fresh = scratch_.fresh.data();
    std::size_t count = 0;
    for (const std::uint32_t pick : block.picks) {
      fresh[count] = pick;
      count += scratch_.seen.insert(block.id(pick)) ? 1 : 0;
    }
    return {fresh, count};
  }

  void score(const PostingBlock& block, std::span<const std::uint32_t> picks) {
    float* const distances = scratch_.distances.data();
    scorer_.score(block.rows, picks, distances);
    if (out_ != nullptr) {
      for (const std::uint32_t pick : picks) outs_ += out_->contains(block.id(pick)) ? 1 : 0;
    }
    for (std::size_t i = 0; i < picks.size(); ++i) {
      if (!(distances[i] <= scratch_.results.bound())) continue;
      const NodeId id = block.id(picks[i]);
      if (id >= vector_count_) [[unlikely]] {
        corrupt_ = true;
        return;
      }
      if (out_ == nullptr || !out_->contains(id)) scratch_.results.keep(distances[i], id);
    }
  }

  const Scorer& scorer_;
  ProbeScratch& scratch_;
  const bool distinct_;
  const std::uint32_t vector_count_;
  const RowSet* const out_;  ///< null: no vector is out
  std::uint64_t outs_ = 0;
  bool corrupt_ = false;
};

/// Chooses the clusters that a search probes, round by round.
class ProbeRounds {
 public:
  /// Borrows all arguments. Empties the scratch's results and counts.
  ProbeRounds(const CentroidIndex& centroids, const void* query, const ProbeParameters& parameters,
              ProbeScratch& scratch)
      : centroids_(centroids),
        query_(query),
        parameters_(parameters),
        scratch_(scratch),
        left_(rows_left(parameters.vector_count, parameters.out)),
        asked_(std::min(parameters.clusters, parameters.cluster_count)),
        wanted_(asked_) {
    scratch.cost = {};
    scratch.probed.clear();
    scratch.results.reset(parameters.k);
  }

  /// Puts the clusters of the next round, which no round before had, into scratch.clusters: first
  /// those that were asked for, later as many as complete() says. False when no more can be probed.
  bool next() {
    if (!choose_next()) return false;
    std::vector<ClusterId>& probed = scratch_.probed;
    probed.insert(probed.end(), scratch_.clusters.begin(), scratch_.clusters.end());
    std::sort(probed.begin(), probed.end());
    scratch_.cost.clusters = static_cast<std::uint32_t>(probed.size());
    return !scratch_.clusters.empty();
  }

  /// Says whether fewer results have been found than there can be.
  bool lacking() const { return scratch_.results.size() < parameters_.k && !found_all(); }
  /// Says whether nothing is left to be found.
  bool found_all() const { return scratch_.results.size() >= left_; }

  /// Call it after a round, with the number of different members of the clusters so far, and the
  /// number of these that are out. Returns whether no more clusters need be probed. While results
  /// are lacking the next round has twice as many clusters, up to all. Otherwise it has as many
  /// clusters as are expected to give as many members that are not out as the clusters of the first
  /// round had members, up to twice as many clusters.
  bool complete(double members, double out) {
    if (parameters_.matches != nullptr || parameters_.every) return true;
    if (wanted_members_ < 0) wanted_members_ = members;
    const double probed = scratch_.cost.clusters;
    double next = 2.0 * std::max<double>(wanted_, probed);
    out_share_ = 1;
    if (!lacking()) {
      const double counting = std::max(members - out, 0.0);
      if (out <= 0 || found_all() || counting >= (1 - kSlack) * wanted_members_) return true;
      out_share_ = std::min(out / members, 1.0);
      if (counting > 0) next = std::min(next, std::ceil(probed * wanted_members_ / counting));
    }
    wanted_ = static_cast<std::uint32_t>(std::min<double>(next, most()));
    return false;
  }

 private:
  /// When at most this share of the members is missing, another round is not worth its cost.
  static constexpr double kSlack = 0.05;
  /// Ranking a few more centroids costs less than ranking them anew.
  static constexpr double kHoldingSlack = 1.25;
  /// Where some clusters cannot be read, at most kMoreTimes times more clusters are probed, or
  /// kMoreClusters if that is more.
  static constexpr std::uint32_t kMoreTimes = 8;
  static constexpr std::uint32_t kMoreClusters = 64;

  std::uint32_t most() const {
    const std::uint32_t all = parameters_.cluster_count;
    if (parameters_.lost == nullptr || *parameters_.lost == 0) return all;
    return std::min(std::max(asked_ * kMoreTimes, kMoreClusters), all);
  }

  void search_centroids() {
    centroids_.search(query_, wanted_, scratch_.centroids);
    scratch_.cost.centroids.distances += scratch_.centroids.counts.distances;
    scratch_.cost.centroids.estimates += scratch_.centroids.counts.estimates;
  }

  bool choose_next() {
    if (parameters_.every) return choose_every();
    return parameters_.matches != nullptr ? choose_holding() : choose_near();
  }

  bool choose_every() {
    if (!scratch_.probed.empty()) return false;
    if (parameters_.matches != nullptr) return choose_all_holding();
    scratch_.clusters.resize(parameters_.cluster_count);
    std::iota(scratch_.clusters.begin(), scratch_.clusters.end(), ClusterId{0});
    return true;
  }

  bool choose_near() {
    if (scratch_.probed.size() >= wanted_) return false;
    search_centroids();
    choose();
    return true;
  }

  /// Chooses clusters that hold matches, all of them where no more are wanted.
  bool choose_holding() {
    if (!scratch_.probed.empty()) return false;
    const ClusterMatches& matches = *parameters_.matches;
    const std::uint32_t wanted = std::max(parameters_.wanted_matches, parameters_.k);
    if (matches.count() <= wanted || matches.holding <= asked_) return choose_all_holding();
    const std::uint32_t all = parameters_.cluster_count;
    for (wanted_ = expect_to_hold(wanted);; wanted_ = std::min(2 * wanted_, all)) {
      search_centroids();
      if (choose_nearest_holding(wanted)) return true;
      if (wanted_ == all) return choose_all_holding();
    }
  }

  /// Says among how many of the nearest clusters there should be enough that hold matches, were
  /// these spread at random.
  std::uint32_t expect_to_hold(std::uint32_t wanted) const {
    const ClusterMatches& matches = *parameters_.matches;
    const double every = static_cast<double>(parameters_.cluster_count) / matches.holding;
    const double needed =
        std::max<double>(asked_, static_cast<double>(wanted) * matches.holding / matches.count());
    return static_cast<std::uint32_t>(
        std::min<double>(std::ceil(kHoldingSlack * needed * every), parameters_.cluster_count));
  }

  bool choose_all_holding() {
    scratch_.clusters.clear();
    for (ClusterId c = 0; c < parameters_.cluster_count; ++c) {
      if (parameters_.matches->count_of(c) > 0) scratch_.clusters.push_back(c);
    }
    return true;
  }

  /// Returns whether the clusters that were found hold as many as are wanted.
  bool choose_nearest_holding(std::uint32_t wanted) {
    scratch_.clusters.clear();
    const float ratio = parameters_.prune_ratio * parameters_.prune_ratio;
    float bound = std::numeric_limits<float>::infinity();
    std::uint32_t held = 0;
    for (const NearCluster& near : scratch_.centroids.found) {
      const std::uint32_t count = parameters_.matches->count_of(near.cluster);
      if (count == 0) continue;
      const bool enough = scratch_.clusters.size() >= asked_ || near.distance > bound;
      if (held >= wanted && enough) return true;
      if (scratch_.clusters.empty()) bound = near.distance * ratio;
      scratch_.clusters.push_back(near.cluster);
      held += count;
    }
    return held >= wanted && scratch_.clusters.size() >= asked_;
  }

  /// Chooses the first `wanted_` clusters that were found, without those that were probed. While no
  /// results are lacking it also leaves out clusters that are too far, compared with the nearest
  /// one; clusters whose members are out do not count as the nearest.
  void choose() {
    const std::vector<NearCluster>& near = scratch_.centroids.found;
    const std::vector<ClusterId>& probed = scratch_.probed;
    auto end = std::min<std::size_t>(near.size(), wanted_);
    if (end > 0 && (probed.empty() || !lacking())) {
      const auto gone = static_cast<std::size_t>(out_share_ * static_cast<double>(probed.size()));
      const std::size_t nearest = std::min(gone, end - 1);
      const float bound =
          near[nearest].distance * parameters_.prune_ratio * parameters_.prune_ratio;
      while (end > nearest + 1 && near[end - 1].distance > bound) --end;
    }
    scratch_.clusters.clear();
    for (std::size_t i = 0; i < end; ++i) {
      if (std::binary_search(probed.begin(), probed.end(), near[i].cluster)) continue;
      scratch_.clusters.push_back(near[i].cluster);
    }
  }

  const CentroidIndex& centroids_;
  const void* query_;
  const ProbeParameters& parameters_;
  ProbeScratch& scratch_;
  const std::uint64_t left_;  ///< vectors that are not out
  const std::uint32_t asked_;
  std::uint32_t wanted_;
  double wanted_members_ = -1;  ///< members that are not out; below 0: not known yet
  double out_share_ = 0;        ///< share of the members of the clusters so far
};

/// Probes the nearest clusters of `centroids` in one round. It makes further rounds in two cases:
/// members that are out have displaced more than a few members; or fewer than k vectors were found,
/// and not all that are not out. So scratch.results holds fewer than k only when the index has no
/// more. Suspends where the source does. Returns its error, or data_loss for a record of a vector
/// that does not exist.
template <PostingSource Source, RowScorer Scorer>
Status probe(Source& source, const Scorer& scorer, const CentroidIndex& centroids,
             const void* query, const ProbeParameters& parameters, ProbeScratch& scratch) {
  ProbeRounds rounds(centroids, query, parameters, scratch);
  if (!source.distinct()) scratch.seen.reset(2 * parameters.expected_members);
  BlockScorer<Scorer> visit(scorer, scratch, source.distinct(), parameters);
  while (rounds.next()) {
    if (Status status = source.probe(scratch.clusters, visit); !status.ok()) return status;
    if (visit.corrupt()) {
      return {StatusCode::data_loss, "a record names a vector that does not exist"};
    }
    if (rounds.complete(static_cast<double>(visit.scored()), static_cast<double>(visit.out()))) {
      break;
    }
  }
  return {};
}

}  // namespace farvec::cluster
