// A CandidateList is the bounded, sorted list of a best-first search.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/types.h"

namespace farvec::graph {

/// Ids take 31 bits in the list's keys.
inline constexpr NodeId kMaxNodes = 1u << 31;

/// Throws Error when an index has more `what` ("vertices") than keys can name.
void require_node_count(std::size_t count, std::string_view what);

struct Neighbor {
  NodeId id = kInvalidNode;
  float distance = std::numeric_limits<float>::infinity();
  bool operator==(const Neighbor&) const = default;
};

/// Keeps the `capacity` nearest entries in ascending order of (distance, id), each either fresh or
/// expanded. An entry is one 64-bit key, distance above id above the expanded flag, so ordering is
/// one integer comparison. Offering an id twice with the same distance keeps one.
class CandidateList {
 public:
  /// Allocates only when `capacity` grows.
  void reset(std::uint32_t capacity) {
    FARVEC_CHECK(capacity > 0);
    // One slot more than capacity: insertion shifts first and drops the last afterwards.
    const std::size_t room = std::size_t{capacity} + 1;
    if (keys_.size() < room) keys_.resize(room);
    capacity_ = capacity;
    size_ = 0;
    cursor_ = 0;
    bound_ = std::numeric_limits<float>::infinity();
  }

  /// Only a distance below this can enter: the worst entry's distance once the list is full.
  float bound() const { return bound_; }

  /// Returns false when the entry is too far or already in the list. It is part of every search's
  /// loop, where a call would cost a twentieth of the rate.
  [[gnu::always_inline]] bool insert(float distance, NodeId id) {
    if (!(distance < bound_)) return false;
    return place(make_key(distance, id));
  }

  /// Does the same, and of those at the greatest distance keeps the smallest ids, in whatever order
  /// they come. It is for results: vectors of bits have few different distances.
  [[gnu::always_inline]] bool keep(float distance, NodeId id) {
    distance += 0.0F;  // keys order -0 before 0
    if (distance < bound_) return place(make_key(distance, id));
    const bool ties = size_ == capacity_ && distance == bound_;
    return ties && id < id_of(keys_[size_ - 1]) && place(make_key(distance, id));
  }

  /// Gives a fresh entry a lower distance than the one under which it was inserted. Without such an
  /// entry it works like insert_once(). False when the distance is too far.
  bool improve(float from, float to, NodeId id) {
    const std::uint64_t old_key = make_key(from, id);
    const std::uint32_t old = lower_bound(old_key);
    if (old == size_ || keys_[old] != old_key) return insert_once(to, id);
    const std::uint64_t key = make_key(to, id);
    const std::uint32_t at = lower_bound(key);
    std::memmove(&keys_[at + 1], &keys_[at], (old - at) * sizeof(std::uint64_t));
    keys_[at] = key;
    if (size_ == capacity_) bound_ = distance_of(keys_[size_ - 1]);
    if (at < cursor_) cursor_ = at;
    return true;
  }

  /// Inserts an id that may already be an entry, under any distance. A fresh entry with a greater
  /// distance is improved; any other entry of the id stays unchanged.
  bool insert_once(float distance, NodeId id) {
    if (!(distance < bound_)) return false;
    const auto wanted = static_cast<std::uint32_t>(id << 1) | 1u;
    for (std::uint32_t at = 0; at < size_; ++at) {
      if ((static_cast<std::uint32_t>(keys_[at]) | 1u) != wanted) continue;
      if ((keys_[at] & 1u) != 0 || keys_[at] <= make_key(distance, id)) return false;
      return improve(distance_of(keys_[at]), distance, id);
    }
    return insert(distance, id);
  }

  /// A Key is an entry with all that is known about it, in the order of entries.
  using Key = std::uint64_t;
  static constexpr Key key_of(float distance, NodeId id) { return make_key(distance, id); }
  static constexpr float distance_of(Key key) {
    const auto ordered = static_cast<std::uint32_t>(key >> 32);
    return std::bit_cast<float>(ordered ^ ((ordered >> 31) != 0 ? 0x80000000u : 0xffffffffu));
  }
  static constexpr NodeId id_of(Key key) { return static_cast<NodeId>(key) >> 1; }
  static constexpr bool is_fresh(Key key) { return (key & 1u) == 0; }

  bool full() const { return size_ == capacity_; }
  /// Returns the farthest entry, which is the next to be dropped; there must be one.
  Key farthest() const { return keys_[size_ - 1]; }

  /// Removes the entry of `id`, fresh or not; false when there is none.
  bool erase(NodeId id) {
    for (std::uint32_t at = 0; at < size_; ++at) {
      if (id_of(keys_[at]) != id) continue;
      std::memmove(&keys_[at], &keys_[at + 1], (size_ - at - 1) * sizeof(Key));
      --size_;
      bound_ = std::numeric_limits<float>::infinity();
      if (at < cursor_) --cursor_;
      return true;
    }
    return false;
  }

  /// Puts back an entry that another one had displaced, in the state (fresh or expanded) that it
  /// had. False when it is too far, or `id` is already an entry.
  bool restore(Key key) {
    for (std::uint32_t at = 0; at < size_; ++at) {
      if (id_of(keys_[at]) == id_of(key)) return false;
    }
    if (!insert(distance_of(key), id_of(key))) return false;
    keys_[lower_bound(key & ~Key{1})] = key;
    return true;
  }

  /// Takes up to `out.size()` of the nearest fresh entries, marks them expanded, returns how many.
  std::uint32_t take_fresh(std::span<NodeId> out) {
    std::uint32_t taken = 0;
    while (cursor_ < size_ && taken < out.size()) {
      if ((keys_[cursor_] & 1u) == 0) {
        out[taken++] = id_of(keys_[cursor_]);
        keys_[cursor_] |= 1u;
      }
      ++cursor_;
    }
    return taken;
  }

  /// A Position is the place of an entry, valid until the next insert().
  using Position = std::uint32_t;

  /// Writes up to `out.size()` of the nearest fresh entries, which stay fresh; returns how many.
  std::uint32_t peek_fresh(std::span<Position> out) const {
    std::uint32_t found = 0;
    for (Position at = cursor_; at < size_ && found < out.size(); ++at) {
      if ((keys_[at] & 1u) == 0) out[found++] = at;
    }
    return found;
  }

  Key key(Position at) const { return keys_[at]; }

  /// Marks the entry expanded and returns its id.
  NodeId take(Position at) {
    keys_[at] |= 1u;
    while (cursor_ < size_ && (keys_[cursor_] & 1u) != 0) ++cursor_;
    return id_of(keys_[at]);
  }

  /// Marks `id` expanded; false when no fresh entry has it.
  bool take_fresh(NodeId id) {
    const auto fresh = static_cast<std::uint32_t>(id << 1);
    for (Position at = cursor_; at < size_; ++at) {
      if (static_cast<std::uint32_t>(keys_[at]) != fresh) continue;
      take(at);
      return true;
    }
    return false;
  }

  std::uint32_t size() const { return size_; }
  std::size_t dram_bytes() const { return keys_.capacity() * sizeof(std::uint64_t); }
  Neighbor operator[](std::uint32_t i) const { return {id_of(keys_[i]), distance_of(keys_[i])}; }

 private:
  /// Inserts an entry that is nearer than the farthest, or for which there is room.
  [[gnu::always_inline]] bool place(std::uint64_t key) {
    const std::uint32_t at = lower_bound(key);
    if (at < size_ && (keys_[at] | 1u) == (key | 1u)) return false;
    std::memmove(&keys_[at + 1], &keys_[at], (size_ - at) * sizeof(std::uint64_t));
    keys_[at] = key;
    if (size_ < capacity_) ++size_;
    if (size_ == capacity_) bound_ = distance_of(keys_[size_ - 1]);
    if (at < cursor_) cursor_ = at;
    return true;
  }

  // The bits of an IEEE float, changed so that they order like the numbers.
  static constexpr std::uint64_t make_key(float distance, NodeId id) {
    const auto bits = std::bit_cast<std::uint32_t>(distance);
    const std::uint32_t ordered = bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
    return (static_cast<std::uint64_t>(ordered) << 32) | (static_cast<std::uint64_t>(id) << 1);
  }

  [[gnu::always_inline]] std::uint32_t lower_bound(std::uint64_t key) const {
    const std::uint64_t* base = keys_.data();
    std::uint32_t length = size_;
    while (length > 1) {
      const std::uint32_t half = length / 2;
      // Not a conditional expression, because GCC makes it a branch that is mispredicted half of
      // the time.
      base += half & -std::uint32_t{base[half - 1] < key};
      length -= half;
    }
    return static_cast<std::uint32_t>(base - keys_.data()) + (length == 1 && *base < key ? 1 : 0);
  }

  std::vector<std::uint64_t> keys_;
  std::uint32_t capacity_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t cursor_ = 0;
  float bound_ = std::numeric_limits<float>::infinity();
};

}  // namespace farvec::graph
