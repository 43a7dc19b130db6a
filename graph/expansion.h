// What every best-first search does with an expanded record: the part that beam_search and
// cache_aware_search share.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>

#include "base/node_record.h"
#include "base/row_set.h"
#include "base/status.h"
#include "graph/beam_scratch.h"
#include "graph/node_source.h"

namespace farvec::graph {

/// A part of a vertex's neighbours.
struct NeighborBlock {
  std::uint32_t number = 0;
  float distance = 0;  ///< of the vertex, exact
  float bound = 0;     ///< neighbours that are not nearer are of no interest
};

/// Distances of one query. estimate() is cheap and may be inexact; exact() reads the record.
template <typename Scorer>
concept NodeScorer = requires(const Scorer& scorer, NodeId id, const NodeId* ids, std::size_t count,
                              float* out, const NodeRecord& record) {
  scorer.prefetch(id);
  scorer.estimate(ids, count, out);
  { scorer.exact(id, record) } -> std::convertible_to<float>;
};

/// Distances of one query where a record brings estimates of its neighbours along. entry(i) is the
/// exact distance of the i-th entry. estimate() gives those of kBlock neighbours, from number
/// block.number * kBlock on, and a bit for each that is below block.bound.
template <typename Scorer>
concept NeighborScorer = requires(const Scorer& scorer, NodeId id, const NodeRecord& record,
                                  const NeighborBlock& block, float* out) {
  { Scorer::kBlock } -> std::convertible_to<std::uint32_t>;
  { scorer.entry(std::size_t{}) } -> std::convertible_to<float>;
  { scorer.exact(id, record) } -> std::convertible_to<float>;
  { scorer.estimate(record, block, out) } -> std::same_as<std::uint32_t>;
};

/// Lives on the stack of one search. Borrows all it is given.
template <NodeSource Source, typename Scorer>
requires NodeScorer<Scorer> || NeighborScorer<Scorer>
class Expansion {
 public:
  Expansion(Source& source, const Scorer& scorer, const BeamParameters& parameters,
            BeamScratch& scratch)
      : source_(source),
        scorer_(scorer),
        scratch_(scratch),
        ids_(scratch.pending.data()),
        node_count_(parameters.node_count),
        out_(parameters.out) {}

  /// The entries become candidates.
  void seed(std::span<const NodeId> entries) {
    if constexpr (NeighborScorer<Scorer>) {
      for (std::size_t i = 0; i < entries.size(); ++i) admit(entries[i], scorer_.entry(i));
      scratch_.counts.distances += static_cast<std::uint32_t>(entries.size());
    } else {
      for (NodeId entry : entries) {
        take(entry);
        if (pending_ == scratch_.pending.size()) offer();
      }
      offer();
    }
  }

  /// One hop: fetches the records, scores each exactly, whether it is out or not, and offers the
  /// neighbours not seen before as candidates. Over a PageSource, candidates that come along with
  /// the frontier are expanded too (Wang et al., Starling, SIGMOD 2024, block search). Suspends
  /// where the source does. Returns the source's error, or data_loss for a record that names a
  /// vertex that does not exist.
  Status expand(std::span<const NodeId> frontier) {
    auto visit = [this](NodeId id, const NodeRecord& record) {
      const float distance = scorer_.exact(id, record);
      const NodeId row = record.row == kInvalidNode ? id : record.row;
      if (out_ == nullptr || !out_->contains(row)) scratch_.results.insert(distance, row);
      ++scratch_.counts.distances;
      if constexpr (NeighborScorer<Scorer>) {
        offer(record, distance);
      } else {
        for (std::uint32_t i = 0; i < record.degree; ++i) take(record.neighbor(i));
      }
    };
    if constexpr (NeighborScorer<Scorer>) {
      for (const NodeId id : frontier) scratch_.estimated.settle(id);
    }
    if (Status status = fetch(frontier, visit); !status.ok()) return status;
    if (corrupt_) return {StatusCode::data_loss, "a record names a vertex that does not exist"};
    ++scratch_.counts.hops;
    if constexpr (!NeighborScorer<Scorer>) offer();
    return {};
  }

 private:
  template <typename Visit>
  Status fetch(std::span<const NodeId> frontier, const Visit& visit) {
    if constexpr (PageSource<Source>) {
      return source_.expand(frontier, visit, [this](NodeId id) {
        if constexpr (!NeighborScorer<Scorer>) offer();
        return scratch_.candidates.take_fresh(id);
      });
    } else {
      return source_.expand(frontier, visit);
    }
  }

  /// An estimate of `id`, which another way may have brought another one.
  void admit(NodeId id, float estimate) {
    if (id >= node_count_) [[unlikely]] {
      corrupt_ = true;
      return;
    }
    const float known = scratch_.estimated.lower(id, estimate);
    if (known <= estimate) return;
    bool entered = false;
    if (known == EstimateTable::kUnknown) {
      entered = scratch_.candidates.insert(estimate, id);
    } else if (known == EstimateTable::kForgotten) {
      entered = scratch_.candidates.insert_once(estimate, id);
    } else {
      entered = scratch_.candidates.improve(known, estimate, id);
    }
    if (entered) source_.expect(id);
  }

  /// The neighbours of one record, by the codes in it.
  void offer(const NodeRecord& record, float distance) requires NeighborScorer<Scorer> {
    alignas(64) float estimates[Scorer::kBlock];
    NeighborBlock block{0, distance, 0};
    for (std::uint32_t begin = 0; begin < record.degree; begin += Scorer::kBlock, ++block.number) {
      block.bound = scratch_.candidates.bound();
      std::uint32_t near = scorer_.estimate(record, block, estimates);
      const std::uint32_t count = std::min(record.degree - begin, Scorer::kBlock);
      if (count < Scorer::kBlock) near &= (1u << count) - 1;
      for (; near != 0; near &= near - 1) {
        const auto i = static_cast<std::uint32_t>(std::countr_zero(near));
        admit(record.neighbor(begin + i), estimates[i]);
      }
    }
    scratch_.counts.estimates += record.degree;
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
  const RowSet* const out_;
  std::uint32_t pending_ = 0;
  bool corrupt_ = false;
};

}  // namespace farvec::graph
