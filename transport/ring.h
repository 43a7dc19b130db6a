// A first-in first-out queue of fixed capacity.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace farvec::transport {

/// Allocates once. The caller keeps within the capacity it asked for.
template <typename T>
class Ring {
 public:
  explicit Ring(std::size_t capacity)
      : items_(std::bit_ceil(capacity + 1)), mask_(items_.size() - 1) {}

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  const T& front() const { return items_[head_ & mask_]; }
  T& front() { return items_[head_ & mask_]; }
  void pop() { ++head_; }
  void push(const T& item) { items_[tail_++ & mask_] = item; }
  void clear() { head_ = tail_; }

 private:
  std::vector<T> items_;
  std::size_t mask_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace farvec::transport
