// What every best-first search does with an expanded record: the part that beam_search and
// cache_aware_search share.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>

#include "base/node_record.h"
#include "base/status.h"
#include "graph/beam_scratch.h"
#include "graph/node_source.h"

namespace farvec::graph {

/// Distances of one query. estimate() is cheap and may be inexact; exact() reads the record.
template <typename Scorer>
concept NodeScorer = requires(const Scorer& scorer, NodeId id, const NodeId* ids, std::size_t count,
                              float* out, const NodeRecord& record) {
  scorer.prefetch(id);
  scorer.estimate(ids, count, out);
  { scorer.exact(id, record) } -> std::convertible_to<float>;
};

/// Lives on the stack of one search. Borrows all it is given.
template <NodeSource Source, NodeScorer Scorer>
class Expansion {
 public:
  Expansion(Source& source, const Scorer& scorer, const BeamParameters& parameters,
            BeamScratch& scratch)
      : source_(source),
        scorer_(scorer),
        scratch_(scratch),
        ids_(scratch.pending.data()),
        node_count_(parameters.node_count) {}

  /// The entries become candidates.
  void seed(std::span<const NodeId> entries) {
    for (NodeId entry : entries) {
      take(entry);
      if (pending_ == scratch_.pending.size()) offer();
    }
    offer();
  }

  /// One hop: fetches the records, scores each exactly, and offers the neighbours not seen before
  /// as candidates. Over a PageSource, candidates that come along with the frontier are expanded
  /// too (Wang et al., Starling, SIGMOD 2024, block search). Suspends where the source does.
  /// Returns the source's error, or data_loss for a record that names a vertex that does not exist.
  Status expand(std::span<const NodeId> frontier) {
    auto visit = [this](NodeId id, const NodeRecord& record) {
      scratch_.results.insert(scorer_.exact(id, record), id);
      ++scratch_.counts.distances;
      for (std::uint32_t i = 0; i < record.degree; ++i) take(record.neighbor(i));
    };
    if (Status status = fetch(frontier, visit); !status.ok()) return status;
    if (corrupt_) return {StatusCode::data_loss, "a record names a vertex that does not exist"};
    ++scratch_.counts.hops;
    offer();
    return {};
  }

 private:
  template <typename Visit>
  Status fetch(std::span<const NodeId> frontier, const Visit& visit) {
    if constexpr (PageSource<Source>) {
      return source_.expand(frontier, visit, [this](NodeId id) {
        offer();
        return scratch_.candidates.take_fresh(id);
      });
    } else {
      return source_.expand(frontier, visit);
    }
  }

  void take(NodeId id) {
    if (id >= node_count_) [[unlikely]] {
      corrupt_ = true;
      return;
    }
    // Without a branch: a known vertex's code is near, and asking for it costs little.
    scorer_.prefetch(id);
    ids_[pending_] = id;
    pending_ += scratch_.visited.insert(id) ? 1 : 0;
  }

  void offer() {
    if (pending_ == 0) return;
    float* const estimates = scratch_.estimates.data();
    scorer_.estimate(ids_, pending_, estimates);
    scratch_.counts.estimates += pending_;
    // First without a branch, which would be hard to predict: those that may enter.
    const float bound = scratch_.candidates.bound();
    std::uint32_t near = 0;
    for (std::uint32_t i = 0; i < pending_; ++i) {
      ids_[near] = ids_[i];
      estimates[near] = estimates[i];
      near += estimates[i] < bound ? 1 : 0;
    }
    for (std::uint32_t i = 0; i < near; ++i) {
      if (scratch_.candidates.insert(estimates[i], ids_[i])) source_.expect(ids_[i]);
    }
    pending_ = 0;
  }

  Source& source_;
  const Scorer& scorer_;
  BeamScratch& scratch_;
  NodeId* const ids_;
  const std::uint32_t node_count_;
  std::uint32_t pending_ = 0;
  bool corrupt_ = false;
};

}  // namespace farvec::graph
