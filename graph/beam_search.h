// Best-first search with a beam over any NodeSource and any scorer.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "base/node_record.h"
#include "base/status.h"
#include "graph/candidate_list.h"
#include "graph/node_source.h"
#include "graph/visited_filter.h"

namespace farvec::graph {

/// Distances of one query. estimate() is cheap and may be inexact; exact() reads the record.
template <typename Scorer>
concept NodeScorer = requires(const Scorer& scorer, NodeId id, const NodeId* ids, std::size_t count,
                              float* out, const NodeRecord& record) {
  scorer.prefetch(id);
  scorer.estimate(ids, count, out);
  { scorer.exact(id, record) } -> std::convertible_to<float>;
};

inline constexpr std::uint32_t kMaxWidth = 64;

struct BeamParameters {
  std::uint32_t k = 10;          ///< results kept, by exact distance
  std::uint32_t list = 64;       ///< L: candidates kept, by estimate; >= k
  std::uint32_t width = 1;       ///< W: records fetched per hop, 1 to kMaxWidth
  std::uint32_t max_degree = 0;  ///< of the graph
  std::uint32_t node_count = 0;  ///< of the graph; a neighbour id beyond it is corruption
};

struct BeamCounts {
  std::uint32_t hops = 0;
  std::uint32_t estimates = 0;
  std::uint32_t distances = 0;
};

/// One search's working memory, reused between searches; grows to the largest parameters seen.
struct BeamScratch {
  CandidateList candidates;
  CandidateList results;  ///< the answer: nearest first, exact distances
  VisitedFilter visited;
  std::vector<NodeId> pending;
  std::vector<float> estimates;
  BeamCounts counts;

  void reset(const BeamParameters& parameters);
  std::size_t dram_bytes() const {
    return candidates.dram_bytes() + results.dram_bytes() + visited.dram_bytes() +
           pending.capacity() * (sizeof(NodeId) + sizeof(float));
  }
};

/// Searches from `entries`. Each hop takes the `width` nearest unexpanded candidates, fetches their
/// records, scores each record's own vector exactly, and estimates the neighbours not seen before.
/// Ends when the `list` nearest estimated candidates are all expanded (Subramanya et al., DiskANN,
/// NeurIPS 2019, algorithm 1). Suspends where the source does. Returns the source's error, or
/// data_loss for a record that names a vertex that does not exist; scratch.results then holds what
/// was found until then.
template <NodeSource Source, NodeScorer Scorer>
Status beam_search(Source& source, const Scorer& scorer, std::span<const NodeId> entries,
                   const BeamParameters& parameters, BeamScratch& scratch) {
  scratch.reset(parameters);
  NodeId frontier[kMaxWidth];
  std::uint32_t pending = 0;
  bool corrupt = false;
  NodeId* const ids = scratch.pending.data();

  auto take = [&](NodeId id) {
    if (id >= parameters.node_count) [[unlikely]] {
      corrupt = true;
      return;
    }
    // Without a branch: a known vertex's code is near, and asking for it costs little.
    scorer.prefetch(id);
    ids[pending] = id;
    pending += scratch.visited.insert(id) ? 1 : 0;
  };
  auto offer_pending = [&] {
    float* const estimates = scratch.estimates.data();
    scorer.estimate(ids, pending, estimates);
    scratch.counts.estimates += pending;
    // First without a branch, which would be hard to predict: those that may enter.
    const float bound = scratch.candidates.bound();
    std::uint32_t near = 0;
    for (std::uint32_t i = 0; i < pending; ++i) {
      ids[near] = ids[i];
      estimates[near] = estimates[i];
      near += estimates[i] < bound ? 1 : 0;
    }
    for (std::uint32_t i = 0; i < near; ++i) {
      if (scratch.candidates.insert(estimates[i], ids[i])) source.expect(ids[i]);
    }
    pending = 0;
  };
  auto visit = [&](NodeId id, const NodeRecord& record) {
    scratch.results.insert(scorer.exact(id, record), id);
    ++scratch.counts.distances;
    for (std::uint32_t i = 0; i < record.degree; ++i) take(record.neighbor(i));
  };

  for (NodeId entry : entries) {
    take(entry);
    if (pending == scratch.pending.size()) offer_pending();
  }
  offer_pending();
  for (;;) {
    const std::uint32_t taken = scratch.candidates.take_fresh({frontier, parameters.width});
    if (taken == 0) return {};
    if (Status status = source.expand(std::span<const NodeId>(frontier, taken), visit);
        !status.ok()) {
      return status;
    }
    if (corrupt) return {StatusCode::data_loss, "a record names a vertex that does not exist"};
    ++scratch.counts.hops;
    offer_pending();
  }
}

}  // namespace farvec::graph
