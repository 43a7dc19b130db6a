// A HandleSet holds the vertices that a search of a layer has met. It is exact and uses open
// addressing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farvec::graph {

/// Names a vertex in its source: a row of a data set, or a place on a page. Never all ones.
using Handle = std::uint64_t;
inline constexpr Handle kNoHandle = ~Handle{0};

class HandleSet {
 public:
  /// Forgets everything and makes ready for about `expected` handles. Allocates only to grow.
  void reset(std::size_t expected) {
    resize(std::bit_ceil(std::max(2 * expected, kMinSlots)));
    std::fill_n(table_.begin(), slots_, kNoHandle);
    size_ = 0;
  }

  /// Returns true when `handle` was not in the set; from now on it is.
  bool insert(Handle handle) {
    if (2 * (size_ + 1) > slots_) grow();
    if (!place(handle)) return false;
    ++size_;
    return true;
  }

  bool contains(Handle handle) const {
    std::size_t at = (handle * kMultiplier) >> shift_;
    while (table_[at] != kNoHandle && table_[at] != handle) at = (at + 1) & (slots_ - 1);
    return table_[at] == handle;
  }

  std::size_t size() const { return size_; }
  std::size_t dram_bytes() const { return table_.capacity() * sizeof(Handle); }

 private:
  static constexpr std::size_t kMinSlots = 256;
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15u;  // Fibonacci hashing

  bool place(Handle handle) {
    std::size_t at = (handle * kMultiplier) >> shift_;
    while (table_[at] != kNoHandle) {
      if (table_[at] == handle) return false;
      at = (at + 1) & (slots_ - 1);
    }
    table_[at] = handle;
    return true;
  }

  void resize(std::size_t slots) {
    if (slots > table_.size()) table_.resize(slots);
    slots_ = slots;
    shift_ = 64 - std::countr_zero(slots);
  }

  void grow() {
    const std::vector<Handle> old(table_.begin(), table_.begin() + static_cast<long>(slots_));
    resize(2 * slots_);
    std::fill_n(table_.begin(), slots_, kNoHandle);
    for (const Handle handle : old) {
      if (handle != kNoHandle) place(handle);
    }
  }

  std::vector<Handle> table_;
  std::size_t slots_ = 0;
  std::size_t size_ = 0;
  int shift_ = 64;
};

}  // namespace farvec::graph
