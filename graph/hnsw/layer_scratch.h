// Defines the candidates of an HNSW search, and the working memory of one search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "graph/hnsw/handle_set.h"

namespace farvec::graph {

struct Candidate {
  float distance = 0;
  NodeId id = kInvalidNode;  ///< the caller's id of the vertex
  Handle handle = kNoHandle;
  bool operator==(const Candidate&) const = default;
};

/// Orders results: nearer first, then smaller id, whatever the order of visits. A candidate without
/// a distance (NaN) comes last, so that this is an order for all values.
inline bool operator<(const Candidate& a, const Candidate& b) {
  if (a.distance < b.distance) return true;
  if (a.distance > b.distance) return false;
  if (a.distance != b.distance && std::isnan(a.distance) != std::isnan(b.distance)) {
    return std::isnan(b.distance);
  }
  return std::tie(a.id, a.handle) < std::tie(b.id, b.handle);
}

/// Changes the order of equal distances for every vertex: a vertex that is given neighbours is
/// searched with ids that were xor-ed with its own salt. Ordered by the ids themselves, all
/// duplicates would choose the same few neighbours, and nothing would lead to the others.
inline NodeId tie_salt(NodeId vertex) {
  return static_cast<NodeId>(Random(vertex).next());
}

/// A search of a layer ends when it has met this many marked vertices, near enough to be kept, for
/// each place of its list: where nearly all vertices are marked it would walk through all of them.
/// About five near-enough vertices are met for each that is kept, so that a list gets full before
/// that while 1 in 100 is left.
inline constexpr std::uint64_t kMarkedPerPlace = 500;

/// A LayerScratch is the working memory of one search, reused between searches; grows to the
/// largest search seen.
class LayerScratch {
 public:
  /// Returns the answer of the last layer, nearest first, without marked vertices. The next layer
  /// begins with it and passed().
  std::span<const Candidate> found() const { return found_; }
  /// Returns the nearest marked vertex that the search has met, if any.
  std::span<const Candidate> passed() const { return {&passed_, has_passed_ ? 1u : 0u}; }

  /// Says whether the search of the last layer ended because of kMarkedPerPlace: there may be
  /// others, and nearer ones.
  bool cut_short() const { return cut_short_; }

  /// Begins a layer with what the last one found and passed. The search goes on beyond the bound of
  /// marked vertices until `least` vertices are found.
  void begin_layer(std::size_t list, std::size_t least = 0) {
    list_ = list;
    least_ = least;
    marked_left_ = kMarkedPerPlace * list;
    cut_short_ = false;
    full_before_ = false;
    visited_.reset(kVisitsPerCandidate * list);
    fresh_.clear();
    starts_.assign(found_.begin(), found_.end());
    std::make_heap(found_.begin(), found_.end());
    while (found_.size() > list_) drop_farthest();
    for (const Candidate& start : starts_) begin_at(start);
    if (has_passed_) begin_at(passed_);
  }

  /// Begins a search, with nothing found.
  void clear() {
    found_.clear();
    has_passed_ = false;
    cut_short_ = false;
  }

  void add(const Candidate& candidate, bool marked) {
    if (marked) note_marked(candidate);
    if (!near_enough(candidate)) return;
    push_fresh(candidate);
    if (marked) {
      if (!has_passed_ || candidate < passed_) passed_ = candidate;
      has_passed_ = true;
      return;
    }
    found_.push_back(candidate);
    std::push_heap(found_.begin(), found_.end());
    if (found_.size() > list_) drop_farthest();
  }

  /// Takes the nearest candidate that was not taken yet; false when none can lead nearer.
  bool take(Candidate& candidate) {
    if (fresh_.empty()) return false;
    cut_short_ = marked_left_ == 0 && found_.size() >= least_;
    if (cut_short_) return false;
    full_before_ = found_.size() == list_;
    if (full_before_) farthest_before_ = found_.front();
    std::pop_heap(fresh_.begin(), fresh_.end(), after);
    candidate = fresh_.back();
    fresh_.pop_back();
    return found_.size() < list_ || !(found_.front() < candidate);
  }

  void end_layer() { std::sort_heap(found_.begin(), found_.end()); }

  /// Returns true for the first call with `handle` in this layer.
  bool visit(Handle handle) { return visited_.insert(handle); }

  std::vector<Handle> neighbors;  ///< neighbours of the vertex that is expanded
  std::size_t dram_bytes() const {
    return visited_.dram_bytes() + neighbors.capacity() * sizeof(Handle) +
           (found_.capacity() + fresh_.capacity() + starts_.capacity()) * sizeof(Candidate);
  }

 private:
  static constexpr std::size_t kVisitsPerCandidate = 16;  ///< the set grows if it needs more

  static bool after(const Candidate& a, const Candidate& b) { return b < a; }

  /// It is never true for a distance that is not a number.
  bool near_enough(const Candidate& c) const {
    if (c.distance != c.distance) return false;
    return found_.size() < list_ || c < found_.front();
  }
  /// Counts a marked vertex, compared with what was found before the vertices that are scored now,
  /// so that their order does not matter.
  void note_marked(const Candidate& c) {
    if (marked_left_ > 0 && (!full_before_ || c < farthest_before_)) --marked_left_;
  }
  void push_fresh(const Candidate& candidate) {
    fresh_.push_back(candidate);
    std::push_heap(fresh_.begin(), fresh_.end(), after);
  }
  void begin_at(const Candidate& start) {
    visited_.insert(start.handle);
    push_fresh(start);
  }
  void drop_farthest() {
    std::pop_heap(found_.begin(), found_.end());
    found_.pop_back();
  }

  std::size_t list_ = 1;
  std::size_t least_ = 0;
  std::uint64_t marked_left_ = 0;  ///< marked vertices that may still be met
  bool cut_short_ = false;
  /// Whether the list was full when the vertex that is expanded was taken.
  bool full_before_ = false;
  Candidate farthest_before_;     ///< the farthest result at that time
  std::vector<Candidate> found_;  ///< during a layer a heap, farthest first
  std::vector<Candidate> fresh_;  ///< a heap, nearest first
  std::vector<Candidate> starts_;
  Candidate passed_;
  bool has_passed_ = false;
  HandleSet visited_;
};

}  // namespace farvec::graph
