// An Expansion does what every best-first search does with an expanded record: the part that
// beam_search and cache_aware_search share.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

#include "base/node_record.h"
#include "base/row_set.h"
#include "base/status.h"
#include "graph/beam_scratch.h"
#include "graph/node_source.h"

namespace farvec::graph {

/// A NeighborBlock has some of a vertex's neighbours.
struct NeighborBlock {
  std::uint32_t number = 0;
  float distance = 0;  ///< exact distance of the vertex
  float bound = 0;     ///< only neighbours nearer than this matter
};

/// Gives distances from one query. estimate() is cheap and may be inexact; exact() reads the
/// record.
template <typename Scorer>
concept NodeScorer = requires(const Scorer& scorer, NodeId id, const NodeId* ids, std::size_t count,
                              float* out, const NodeRecord& record) {
  scorer.prefetch(id);
  scorer.estimate(ids, count, out);
  { scorer.exact(id, record) } -> std::convertible_to<float>;
};

/// Gives distances from one query where a record brings estimates of its neighbours along. entry(i)
/// is the exact distance of the i-th entry. estimate() estimates the kBlock neighbours from number
/// block.number * kBlock on, and returns a bit for each that is below block.bound.
template <typename Scorer>
concept NeighborScorer = requires(const Scorer& scorer, NodeId id, const NodeRecord& record,
                                  const NeighborBlock& block, float* out) {
  { Scorer::kBlock } -> std::convertible_to<std::uint32_t>;
  { scorer.entry(std::size_t{}) } -> std::convertible_to<float>;
  { scorer.exact(id, record) } -> std::convertible_to<float>;
  { scorer.estimate(record, block, out) } -> std::same_as<std::uint32_t>;
};

/// Says what a search knows of vertices whose rows are no results. It passes them: they lead on.
enum class Passing {
  none,   ///< there are none
  found,  ///< whether a vertex is out is found when it is read
  known,  ///< BeamParameters::out_vertices has those that are out
};

/// Lives on the stack of one search. Borrows all it is given. The cost of passing is compiled only
/// into searches that pass vertices (a branch at run time costs the others a twelfth of their
/// rate).
///
/// Where it is known which vertices are out, they never enter the list of candidates. They wait in
/// the reserve, which is a heap, and are read as long as they are nearer than the last of a full
/// list.
template <NodeSource Source, typename Scorer, Passing kPassing>
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
        out_(parameters.out),
        rows_end_(parameters.rows_end),
        out_vertices_(parameters.out_vertices),
        left_(kPasses ? rows_left(parameters.node_count, parameters.out) : kAll),
        most_passed_(parameters.most_passed) {}

  /// Says whether nothing is left to be found, or no more vertices may be passed.
  bool ended() const { return kPasses && (scratch_.results.size() >= left_ || scratch_.cut_short); }

  /// Makes the entries candidates.
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

  /// One hop: fetches the records, scores each exactly unless it is out, and offers the neighbours
  /// not seen before as candidates. Estimates of neighbours by codes in the record need the
  /// distance of a vertex that is out too. Over a PageSource, candidates that come along
  /// with the frontier are expanded too (Wang et al., Starling, SIGMOD 2024, block search).
  /// Suspends where the source does. Returns the source's error, or data_loss for a record that
  /// names a vertex that does not exist.
  [[gnu::always_inline]] Status expand(std::span<const NodeId> frontier) {
    auto visit = [this](NodeId id, const NodeRecord& record) {
      const NodeId row = record.row == kInvalidNode ? id : record.row;
      const bool out = kPasses && (is_known_out(id) || is_out(row));
      float distance = 0;
      if (NeighborScorer<Scorer> || !out) {
        distance = scorer_.exact(id, record);
        ++scratch_.counts.distances;
      }
      if (out) {
        pass(id);
      } else {
        scratch_.results.keep(distance, row);
      }
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

  /// Takes the nearest candidates that were not read, up to frontier.size() of them.
  std::uint32_t take_next(std::span<NodeId> frontier) {
    if constexpr (kPassing != Passing::known) return scratch_.candidates.take_fresh(frontier);
    CandidateList& candidates = scratch_.candidates;
    std::uint32_t taken = 0;
    while (taken < frontier.size()) {
      CandidateList::Position at = 0;
      const bool fresh = candidates.peek_fresh({&at, 1}) > 0;
      const CandidateList::Key* const passed = scratch_.reserve.nearest();
      const bool passes =
          passed != nullptr && CandidateList::distance_of(*passed) < candidates.bound();
      if (!fresh && !passes) break;
      if (passes && (!fresh || *passed < candidates.key(at))) {
        CandidateList::Key key = 0;
        scratch_.reserve.take(key);
        const NodeId id = CandidateList::id_of(key);
        if (scratch_.reserve.pass(id)) frontier[taken++] = id;
      } else {
        frontier[taken++] = candidates.take(at);
      }
    }
    return taken;
  }

 private:
  static constexpr bool kPasses = kPassing != Passing::none;
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  template <typename Visit>
  [[gnu::always_inline]] Status fetch(std::span<const NodeId> frontier, const Visit& visit) {
    if constexpr (PageSource<Source>) {
      return source_.expand(frontier, visit, [this](NodeId id) {
        if constexpr (!NeighborScorer<Scorer>) offer();
        return scratch_.candidates.take_fresh(id);
      });
    } else if constexpr (kPassing == Passing::known) {
      return source_.expand_passing(frontier, visit,
                                    [this](NodeId id) { return is_known_out(id); });
    } else {
      return source_.expand(frontier, visit);
    }
  }

  /// Its neighbours may have come without its vector then.
  bool is_known_out(NodeId id) const {
    return out_vertices_ != nullptr && out_vertices_->contains(id);
  }

  bool is_out(NodeId row) const {
    return row >= rows_end_ || (out_ != nullptr && out_->contains(row));
  }

  /// Handles a vertex that was read and is out. Where it had a place among the candidates, the
  /// nearest one without a place gets it.
  void pass(NodeId id) {
    const bool known = kPassing == Passing::known;
    if ((known || scratch_.reserve.pass(id)) && ++scratch_.counts.passed >= most_passed_) {
      scratch_.cut_short = true;
    }
    if (known) return;
    if (!scratch_.candidates.erase(id)) return;
    CandidateList::Key key = 0;
    while (scratch_.reserve.take(key)) {
      const NodeId other = CandidateList::id_of(key);
      if (scratch_.reserve.has_passed(other) || !scratch_.candidates.restore(key)) continue;
      if (CandidateList::is_fresh(key)) source_.expect(other);
      return;
    }
  }

  /// Makes `id` a candidate by `enter()`; a candidate that finds no place, or loses its own, goes
  /// to the reserve.
  template <typename Enter>
  bool keep(float estimate, NodeId id, const Enter& enter) {
    CandidateList& candidates = scratch_.candidates;
    if (scratch_.reserve.has_passed(id)) return false;
    if (!(estimate < candidates.bound())) {
      if (estimate < scratch_.reserve.bound()) {
        scratch_.reserve.add(CandidateList::key_of(estimate, id));
      }
      return false;
    }
    const CandidateList::Key farthest = candidates.full() ? candidates.farthest() : 0;
    const bool entered = enter();
    if (farthest != 0 && candidates.farthest() != farthest) scratch_.reserve.add(farthest);
    return entered;
  }

  /// Only estimates below it are of interest.
  float bound() const {
    return kPassing == Passing::found ? scratch_.reserve.bound() : scratch_.candidates.bound();
  }

  /// Offers an estimate of `id`; another way may have brought another estimate of it before.
  void admit(NodeId id, float estimate) {
    if (id >= node_count_) [[unlikely]] {
      corrupt_ = true;
      return;
    }
    const float known = scratch_.estimated.lower(id, estimate);
    if (known <= estimate) return;
    const auto enter = [&] {
      if (known == EstimateTable::kUnknown) return scratch_.candidates.insert(estimate, id);
      if (known == EstimateTable::kForgotten) return scratch_.candidates.insert_once(estimate, id);
      return scratch_.candidates.improve(known, estimate, id);
    };
    if (kPasses ? keep(estimate, id, enter) : enter()) source_.expect(id);
  }

  /// Offers the neighbours of one record, estimated from the codes in it.
  void offer(const NodeRecord& record, float distance) requires NeighborScorer<Scorer> {
    alignas(64) float estimates[Scorer::kBlock];
    NeighborBlock block{0, distance, 0};
    for (std::uint32_t begin = 0; begin < record.degree; begin += Scorer::kBlock, ++block.number) {
      block.bound = bound();
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

  [[gnu::always_inline]] void take(NodeId id) {
    if (id >= node_count_) [[unlikely]] {
      corrupt_ = true;
      return;
    }
    // Without a branch: the code of a known vertex is near, and prefetching it costs little.
    scorer_.prefetch(id);
    ids_[pending_] = id;
    pending_ += scratch_.visited.insert(id) ? 1 : 0;
  }

  [[gnu::always_inline]] void offer() {
    if (pending_ == 0) return;
    float* const estimates = scratch_.estimates.data();
    scorer_.estimate(ids_, pending_, estimates);
    scratch_.counts.estimates += pending_;
    // First the ones that may enter, without a branch, which would be hard to predict.
    const float bound = this->bound();
    std::uint32_t near = 0;
    for (std::uint32_t i = 0; i < pending_; ++i) {
      ids_[near] = ids_[i];
      estimates[near] = estimates[i];
      near += estimates[i] < bound ? 1 : 0;
    }
    pending_ = 0;
    if constexpr (kPassing == Passing::found) return keep_near(near);
    for (std::uint32_t i = 0; i < near; ++i) {
      if (kPassing == Passing::known && is_known_out(ids_[i])) {
        reserve(estimates[i], ids_[i]);
      } else if (scratch_.candidates.insert(estimates[i], ids_[i])) {
        source_.expect(ids_[i]);
      }
    }
  }

  /// Keeps a vertex that is out. Once the list is full, most of those that are nearer than its last
  /// are read.
  void reserve(float estimate, NodeId id) {
    if (!(estimate < scratch_.candidates.bound())) return;
    scratch_.reserve.add(CandidateList::key_of(estimate, id));
    if (scratch_.candidates.full()) source_.expect(id);
  }

  void keep_near(std::uint32_t near) {
    for (std::uint32_t i = 0; i < near; ++i) {
      const float estimate = scratch_.estimates[i];
      const auto enter = [&] { return scratch_.candidates.insert(estimate, ids_[i]); };
      if (keep(estimate, ids_[i], enter)) source_.expect(ids_[i]);
    }
  }

  Source& source_;
  const Scorer& scorer_;
  BeamScratch& scratch_;
  NodeId* const ids_;
  const std::uint32_t node_count_;
  const RowSet* const out_;
  const NodeId rows_end_;
  const RowSet* const out_vertices_;
  const std::uint64_t left_;  ///< rows that are not out, where some are out
  const std::uint32_t most_passed_;
  std::uint32_t pending_ = 0;
  bool corrupt_ = false;
};

}  // namespace farvec::graph
