// An EstimateTable keeps the best estimate so far of each vertex that a search has met:
// approximate, bounded, one cache line per question.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/types.h"

namespace farvec::graph {

/// An EstimateTable is a direct-mapped table of ids with their estimates. It may forget an id when
/// another takes its place; what it forgets then depends only on the ids and their order.
class EstimateTable {
 public:
  static constexpr float kUnknown = std::numeric_limits<float>::infinity();
  /// Unknown too, but the id may have been known before another one took its place.
  static constexpr float kForgotten = std::numeric_limits<float>::max();
  static constexpr float kSettled = -std::numeric_limits<float>::infinity();

  /// Sizes the table for about `expected` ids and forgets everything. Allocates only to grow.
  void reset(std::uint32_t expected) {
    const std::uint32_t slots =
        std::bit_ceil(std::clamp<std::uint32_t>(expected, kMinSlots, kMaxSlots));
    if (slots > table_.size()) table_.resize(slots);
    shift_ = 32u - static_cast<std::uint32_t>(std::countr_zero(slots));
    std::fill_n(table_.begin(), slots, Slot{});
  }

  /// Returns the lowest estimate of `id` so far, or kUnknown or kForgotten, which are above every
  /// estimate, when there is none. Keeps the lower one of the former estimate and `estimate`.
  float lower(NodeId id, float estimate) {
    Slot& slot = slot_of(id);
    const float missing = slot.id == kInvalidNode ? kUnknown : kForgotten;
    const float known = slot.id == id ? slot.estimate : missing;
    if (!(known <= estimate)) slot = {id, estimate};
    return known;
  }

  /// Marks `id` so that no later estimate counts as lower.
  void settle(NodeId id) { slot_of(id) = {id, kSettled}; }

  std::size_t dram_bytes() const { return table_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    NodeId id = kInvalidNode;
    float estimate = kUnknown;
  };
  static constexpr std::uint32_t kMinSlots = 1u << 9;
  static constexpr std::uint32_t kMaxSlots = 1u << 15;
  static constexpr std::uint32_t kMultiplier = 0x9e3779b1u;  // Fibonacci hashing

  Slot& slot_of(NodeId id) { return table_[(id * kMultiplier) >> shift_]; }

  std::vector<Slot> table_;
  std::uint32_t shift_ = 23;
};

}  // namespace farvec::graph
