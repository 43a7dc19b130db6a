// A FlatMap is a map from numbers to small values in one array: it takes less memory than a map of
// nodes, and says how much.
#pragma once

#include "base/check.h"
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace farvec::postgres {

/// Keys are any numbers but kNoKey. References are good until the next change. One thread changes
/// it, or any number read it.
template <typename Value>
class FlatMap {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }
  /// Returns the bytes that it has at most after a few more keys came.
  std::size_t bytes_of_more(std::size_t keys) const {
    return (is_full(keys) ? grown() : slots_.size()) * sizeof(Slot);
  }

  /// Returns null where the key is not there.
  const Value* find(std::uint64_t key) const {
    if (slots_.empty() || key == kNoKey) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  Value* find(std::uint64_t key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

  /// Returns the key's value, and whether it has come with this call: then it is Value().
  std::pair<Value&, bool> insert(std::uint64_t key) {
    FARVEC_CHECK(key != kNoKey);
    if (is_full(1)) grow();
    Slot& slot = slots_[place_of(key)];
    const bool is_new = slot.key != key;
    if (is_new) {
      slot = {key, Value()};
      ++size_;
    }
    return {slot.value, is_new};
  }

  /// Returns whether it was there.
  bool erase(std::uint64_t key) {
    if (slots_.empty() || key == kNoKey) return false;
    std::size_t hole = place_of(key);
    if (slots_[hole].key != key) return false;
    // Those after it, up to the next free place, move to where a search for them would stop.
    for (std::size_t at = next(hole); slots_[at].key != kNoKey; at = next(at)) {
      const std::size_t home = home_of(slots_[at].key);
      if (distance(home, at) < distance(hole, at)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].key = kNoKey;
    --size_;
    return true;
  }

  /// Calls visit(key, value) for each, in no order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.key != kNoKey) visit(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    std::uint64_t key = kNoKey;
    Value value = Value();
  };
  static constexpr std::size_t kLeastSlots = 16;

  bool is_full(std::size_t more) const { return 4 * (size_ + more) > 3 * slots_.size(); }
  std::size_t grown() const { return slots_.empty() ? kLeastSlots : 2 * slots_.size(); }
  std::size_t next(std::size_t place) const { return (place + 1) & (slots_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const {
    return (to - from) & (slots_.size() - 1);
  }
  /// The upper bits of a product depend on all bits of the key.
  std::size_t home_of(std::uint64_t key) const {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
    return (key * kFactor) >> (64 - std::countr_zero(slots_.size()));
  }
  /// Returns where the key is, or else the free place where it would be.
  std::size_t place_of(std::uint64_t key) const {
    std::size_t at = home_of(key);
    while (slots_[at].key != key && slots_[at].key != kNoKey) at = next(at);
    return at;
  }
  void grow() {
    std::vector<Slot> before(grown());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.key != kNoKey) slots_[place_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  ///< a power of two of them
  std::size_t size_ = 0;
};

}  // namespace farvec::postgres
