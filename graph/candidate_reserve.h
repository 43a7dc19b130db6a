// A CandidateReserve holds what a search that passes vertices that are out keeps beside its list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/types.h"
#include "graph/candidate_list.h"
#include "graph/hnsw/handle_set.h"

namespace farvec::graph {

/// Holds candidates that found no place in a full list, nearest first. They wait for the places
/// that vertices which are out give back once they have been read. It also remembers those
/// vertices, which do not become candidates again. A vertex may be in the reserve several times,
/// under different estimates.
class CandidateReserve {
 public:
  using Key = CandidateList::Key;

  /// Begins a search in which at most `places` places are given back. Allocates only to grow.
  void reset(std::uint64_t places) {
    // A vertex that is estimated on several ways has several entries.
    kept_ = 2 * static_cast<std::size_t>(std::min<std::uint64_t>(places, kMaxNodes)) + kSlack;
    keys_.clear();
    bound_ = std::numeric_limits<float>::infinity();
    passed_.reset(0);
  }

  /// Only estimates below it are kept.
  float bound() const { return bound_; }

  void add(Key key) {
    keys_.push_back(key);
    if (keys_.size() >= 2 * kept_) return shorten();
    std::push_heap(keys_.begin(), keys_.end(), std::greater<>());
  }

  /// Returns the nearest, and null when there is none. It is valid until the next change.
  const Key* nearest() const { return keys_.empty() ? nullptr : keys_.data(); }

  /// Removes the nearest; false when there is none.
  bool take(Key& key) {
    if (keys_.empty()) return false;
    std::pop_heap(keys_.begin(), keys_.end(), std::greater<>());
    key = keys_.back();
    keys_.pop_back();
    return true;
  }

  /// Records that the vertex is out and was read. False when that was already known.
  bool pass(NodeId id) { return passed_.insert(id); }
  bool has_passed(NodeId id) const { return passed_.contains(id); }

  std::size_t dram_bytes() const { return keys_.capacity() * sizeof(Key) + passed_.dram_bytes(); }

 private:
  static constexpr std::size_t kSlack = 64;

  void shorten() {
    const auto last = keys_.begin() + static_cast<std::ptrdiff_t>(kept_) - 1;
    std::nth_element(keys_.begin(), last, keys_.end());
    bound_ = CandidateList::distance_of(*last);
    keys_.resize(kept_);
    std::make_heap(keys_.begin(), keys_.end(), std::greater<>());
  }

  std::vector<Key> keys_;  ///< a heap, the nearest on top
  std::size_t kept_ = kSlack;
  float bound_ = std::numeric_limits<float>::infinity();
  HandleSet passed_;
};

}  // namespace farvec::graph
