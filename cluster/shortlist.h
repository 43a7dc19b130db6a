// A Shortlist keeps the lowest estimates of what is estimated block by block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/check.h"
#include "quantization/neighbor_codes.h"

namespace farvec::cluster {

/// Calls keep(number, estimate) for each of `size` neighbours that is below the bound.
/// estimate(block, out) is NeighborCodes::estimate() of that block.
template <typename Estimate, typename Keep>
void for_each_near(std::uint32_t size, const Estimate& estimate, const Keep& keep) {
  float estimates[quantization::kScanBlock];
  for (std::uint32_t begin = 0; begin < size; begin += quantization::kScanBlock) {
    std::uint32_t near = estimate(begin / quantization::kScanBlock, estimates);
    // Bits after the last neighbour mean nothing.
    if (size - begin < quantization::kScanBlock) near &= (1u << (size - begin)) - 1;
    for (; near != 0; near &= near - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(near));
      keep(begin + i, estimates[i]);
    }
  }
}

/// Keeps the `capacity` lowest of the offers, in any order. Offers gather until there are twice as
/// many, then the upper half is dropped. That takes far fewer moves than a sorted list; in exchange
/// the bound lags behind.
class Shortlist {
 public:
  /// Allocates only when `capacity` grows.
  void reset(std::uint32_t capacity) {
    FARVEC_CHECK(capacity > 0);
    capacity_ = capacity;
    room_ = 2 * std::size_t{capacity} + kSlack;
    if (keys_.size() < room_) keys_.resize(room_);
    size_ = 0;
    bound_ = std::numeric_limits<float>::infinity();
  }

  /// Only estimates below it are kept.
  float bound() const { return bound_; }

  void offer(float estimate, std::uint32_t number) {
    keys_[size_++] = make_key(estimate, number);
    if (size_ == room_) shorten();
  }

  /// Returns the numbers that are kept, valid until the next call of any member.
  std::span<const std::uint32_t> take() {
    shorten();
    numbers_.resize(size_);
    for (std::size_t i = 0; i < size_; ++i) numbers_[i] = static_cast<std::uint32_t>(keys_[i]);
    return numbers_;
  }

  std::size_t dram_bytes() const {
    return keys_.capacity() * sizeof(std::uint64_t) + numbers_.capacity() * sizeof(std::uint32_t);
  }

 private:
  static constexpr std::size_t kSlack = 32;

  /// Returns the estimate above the number; the bits of an IEEE float, changed so that they order
  /// like the numbers.
  static std::uint64_t make_key(float estimate, std::uint32_t number) {
    const auto bits = std::bit_cast<std::uint32_t>(estimate);
    const std::uint32_t ordered = bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
    return (std::uint64_t{ordered} << 32) | number;
  }
  static float estimate_of(std::uint64_t key) {
    const auto ordered = static_cast<std::uint32_t>(key >> 32);
    return std::bit_cast<float>(ordered ^ ((ordered >> 31) != 0 ? 0x80000000u : 0xffffffffu));
  }

  void shorten() {
    if (size_ <= capacity_) return;
    const auto begin = keys_.begin();
    const auto last = begin + capacity_ - 1;
    std::nth_element(begin, last, begin + static_cast<std::ptrdiff_t>(size_));
    size_ = capacity_;
    bound_ = estimate_of(*last);
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> numbers_;
  std::uint32_t capacity_ = 0;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
  float bound_ = std::numeric_limits<float>::infinity();
};

}  // namespace farvec::cluster
