// A Ring is a first-in first-out queue of fixed capacity.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace farvec::transport {

/// Allocates once. The caller keeps within the capacity that it asked for. It uses only as many
/// places as it has needed so far: a deep queue in which few items wait stays in the nearest cache.
template <typename T>
class Ring {
 public:
  explicit Ring(std::size_t capacity)
      : items_(std::bit_ceil(capacity + 1)), mask_(std::min(items_.size(), kFirstPlaces) - 1) {}

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  const T& front() const { return items_[head_ & mask_]; }
  T& front() { return items_[head_ & mask_]; }
  void pop() { ++head_; }
  void push(const T& item) {
    if (size() > mask_) [[unlikely]] {
      widen();
    }
    items_[tail_++ & mask_] = item;
  }
  void clear() { head_ = tail_; }

 private:
  static constexpr std::size_t kFirstPlaces = 8;

  /// Each item keeps its place or moves into the new half.
  void widen() {
    const std::size_t wider = 2 * mask_ + 1;
    for (std::size_t i = head_; i != tail_; ++i) {
      if ((i & wider) != (i & mask_)) items_[i & wider] = std::move(items_[i & mask_]);
    }
    mask_ = wider;
  }

  std::vector<T> items_;
  std::size_t mask_;  ///< for the places that are in use
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace farvec::transport
