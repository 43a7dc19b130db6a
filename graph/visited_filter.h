// A VisitedFilter remembers which vertices a search has already estimated: approximate, bounded,
// one cache line per question.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace farvec::graph {

/// A VisitedFilter is a direct-mapped table of ids. It never calls a new id seen. It may forget an
/// old id when another id takes its place; then the search estimates that vertex again and
/// CandidateList drops the duplicate, so results do not change. Which ids are forgotten depends
/// only on the ids.
class VisitedFilter {
 public:
  /// Sizes the table for about `expected` ids and forgets everything. Allocates only to grow.
  void reset(std::uint32_t expected) {
    const std::uint32_t slots =
        std::bit_ceil(std::clamp<std::uint32_t>(expected, kMinSlots, kMaxSlots));
    if (slots > table_.size()) table_.resize(slots);
    shift_ = 32u - static_cast<std::uint32_t>(std::countr_zero(slots));
    std::fill_n(table_.begin(), slots, kInvalidNode);
  }

  /// Returns true when `id` was not known; from now on it is.
  bool insert(NodeId id) {
    NodeId& slot = table_[(id * kMultiplier) >> shift_];
    const bool unknown = slot != id;
    slot = id;  // always written: whether the id was known is hard to predict
    return unknown;
  }

  std::size_t dram_bytes() const { return table_.capacity() * sizeof(NodeId); }

 private:
  static constexpr std::uint32_t kMinSlots = 1u << 10;
  static constexpr std::uint32_t kMaxSlots = 1u << 16;
  static constexpr std::uint32_t kMultiplier = 0x9e3779b1u;  // Fibonacci hashing
  std::vector<NodeId> table_;
  std::uint32_t shift_ = 22;
};

}  // namespace farvec::graph
