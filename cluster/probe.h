// The search of a cluster index over any PostingSource: the nearest vectors of the nearest
// clusters.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/posting_block.h"
#include "base/row_set.h"
#include "base/status.h"
#include "cluster/centroid_index.h"
#include "cluster/posting_source.h"
#include "graph/candidate_list.h"
#include "graph/visited_filter.h"

namespace farvec::cluster {

/// Exact distances of one query to rows of a view.
template <typename Scorer>
concept RowScorer = requires(const Scorer& scorer, const VectorView& rows,
                             std::span<const std::uint32_t> picks, float* out) {
  scorer.score(rows, picks, out);
};

struct ProbeParameters {
  std::uint32_t k = 10;
  std::uint32_t clusters = 16;  ///< most clusters to probe
  /// Clusters whose centroid is more than this many times as far as the nearest one's are left out
  /// (distances, not their squares); infinity keeps all.
  float prune_ratio = std::numeric_limits<float>::infinity();
  /// While fewer than k vectors have been found, more clusters are probed, up to so many.
  std::uint32_t most_clusters = 128;
  std::uint32_t cluster_count = 0;  ///< of the index
  std::uint32_t vector_count = 0;   ///< of the index; an id beyond it is corruption
  /// Vectors that are no results; null: all may be.
  const RowSet* out = nullptr;
  /// About how many members the probed clusters have, for the memory of what was seen.
  std::uint32_t expected_members = 1u << 14;
};

struct ProbeCounts {
  std::uint32_t clusters = 0;   ///< probed
  std::uint32_t distances = 0;  ///< exact, to members
  CentroidCounts centroids;     ///< of all rounds
};

/// One search's working memory, reused between searches.
struct ProbeScratch {
  CentroidScratch centroids;
  graph::CandidateList results;  ///< the answer: nearest first
  graph::VisitedFilter seen;
  std::vector<ClusterId> clusters;
  std::vector<std::uint32_t> fresh;
  std::vector<float> distances;
  ProbeCounts counts;

  std::size_t dram_bytes() const {
    return centroids.dram_bytes() + results.dram_bytes() + seen.dram_bytes() +
           clusters.capacity() * sizeof(ClusterId) + fresh.capacity() * sizeof(std::uint32_t) +
           distances.capacity() * sizeof(float);
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
        out_(parameters.out) {
    scratch.distances.resize(kRun);
  }

  /// A record named a vector that does not exist.
  bool corrupt() const { return corrupt_; }

  void operator()(const PostingBlock& block) {
    std::span<const std::uint32_t> picks = block.picks;
    if (!distinct_) picks = leave_out_seen(block);
    for (std::size_t begin = 0; begin < picks.size(); begin += kRun) {
      score(block, picks.subspan(begin, std::min(kRun, picks.size() - begin)));
    }
    scratch_.counts.distances += static_cast<std::uint32_t>(picks.size());
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
    for (std::size_t i = 0; i < picks.size(); ++i) {
      if (!(distances[i] < scratch_.results.bound())) continue;
      const NodeId id = block.id(picks[i]);
      if (id >= vector_count_) [[unlikely]] {
        corrupt_ = true;
        return;
      }
      // Asked of the near ones alone: of the others not even the id need be looked at.
      if (out_ == nullptr || !out_->contains(id)) scratch_.results.insert(distances[i], id);
    }
  }

  const Scorer& scorer_;
  ProbeScratch& scratch_;
  const bool distinct_;
  const std::uint32_t vector_count_;
  const RowSet* const out_;
  bool corrupt_ = false;
};

/// Which clusters a search probes, round by round.
class ProbeRounds {
 public:
  /// Borrows all of it. Empties the scratch's results and counts.
  ProbeRounds(const CentroidIndex& centroids, const void* query, const ProbeParameters& parameters,
              ProbeScratch& scratch)
      : centroids_(centroids),
        query_(query),
        parameters_(parameters),
        scratch_(scratch),
        most_(std::min(std::max(parameters.clusters, parameters.most_clusters),
                       parameters.cluster_count)),
        wanted_(std::min(parameters.clusters, most_)) {
    scratch.counts = {};
    scratch.results.reset(parameters.k);
  }

  /// Puts the clusters of the next round, which none before had, into scratch.clusters: first the
  /// wanted ones, then so many that there are twice as many each time. False when the clusters that
  /// may be probed have been.
  bool next() {
    if (probed_ >= wanted_) return false;
    centroids_.search(query_, wanted_, scratch_.centroids);
    scratch_.counts.centroids.distances += scratch_.centroids.counts.distances;
    scratch_.counts.centroids.estimates += scratch_.centroids.counts.estimates;
    const std::vector<NearCluster>& near = scratch_.centroids.found;
    auto end = static_cast<std::uint32_t>(std::min<std::size_t>(near.size(), wanted_));
    if (end <= probed_) return false;
    const float bound = near[0].distance * parameters_.prune_ratio * parameters_.prune_ratio;
    while (probed_ == 0 && end > 1 && near[end - 1].distance > bound) --end;
    scratch_.clusters.clear();
    for (std::uint32_t i = probed_; i < end; ++i) scratch_.clusters.push_back(near[i].cluster);
    scratch_.counts.clusters = probed_ = end;
    wanted_ = std::min(std::max(wanted_, probed_) * 2, most_);
    return true;
  }

  /// As many results as there can be have been found.
  bool complete() const {
    return scratch_.results.size() >=
           std::min<std::uint64_t>(parameters_.k,
                                   rows_left(parameters_.vector_count, parameters_.out));
  }

 private:
  const CentroidIndex& centroids_;
  const void* query_;
  const ProbeParameters& parameters_;
  ProbeScratch& scratch_;
  const std::uint32_t most_;
  std::uint32_t wanted_;
  std::uint32_t probed_ = 0;
};

/// Probes the nearest clusters of `centroids` in one round; in further ones, of twice as many, only
/// while fewer than k vectors, and not all that are not out, have been found. scratch.results then
/// holds fewer than k when the clusters that may be probed have no more. Suspends where the source
/// does. Returns its error, or data_loss for a record of a vector that does not exist.
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
    if (rounds.complete()) break;
  }
  return {};
}

}  // namespace farvec::cluster
