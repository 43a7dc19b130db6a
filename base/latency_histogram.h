// A LatencyHistogram counts durations by size, for percentiles of millions of reads and queries.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/clock.h"

namespace farvec {

/// Every duration has a bucket; a duration of b ticks is in a bucket less than b / 64 wide. It
/// takes 30 KB. Not thread-safe.
class LatencyHistogram {
 public:
  void add(Ticks duration) {
    ++buckets_[bucket_of(duration)];
    ++count_;
    sum_ += static_cast<double>(duration);
    max_ = std::max(max_, duration);
  }

  void merge(const LatencyHistogram& other) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }

  std::uint64_t count() const { return count_; }

  /// Returns the sum in ticks. It is exact up to rounding, like mean().
  double sum() const { return sum_; }

  /// Returns the longest duration in ticks, exactly; 0 without durations.
  Ticks max() const { return max_; }

  /// Returns the mean in ticks; 0 without durations.
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  /// Returns, in ticks, the middle of the bucket that holds the duration below which `share` of all
  /// durations are (nearest rank), at most max(). 0 without durations.
  double percentile(double share) const {
    if (count_ == 0) return 0;
    const double wanted = std::ceil(share * static_cast<double>(count_));
    const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
    std::size_t bucket = 0;
    for (std::uint64_t seen = buckets_[0]; seen < rank; seen += buckets_[bucket]) ++bucket;
    return std::min(middle_of(bucket), static_cast<double>(max_));
  }

  /// Says how many durations are in buckets before the bucket of `bound`. All of them are shorter
  /// than `bound`. Durations that are shorter but not counted are shorter by at most a 64th of the
  /// bound.
  std::uint64_t below(Ticks bound) const {
    const auto end = buckets_.begin() + static_cast<std::ptrdiff_t>(bucket_of(bound));
    return std::accumulate(buckets_.begin(), end, std::uint64_t{0});
  }

  /// Calls visit(middle of the bucket in ticks, how many durations) for every bucket that has some,
  /// in ascending order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      if (buckets_[i] > 0) visit(middle_of(i), buckets_[i]);
    }
  }

 private:
  static constexpr unsigned kExactBits = 6;  ///< durations below 2^7 have buckets of their own
  static constexpr std::size_t kBuckets = (64 - kExactBits + 1) << kExactBits;

  static std::size_t bucket_of(Ticks duration) {
    const auto bits = static_cast<unsigned>(std::bit_width(duration));
    const unsigned shift = bits > kExactBits + 1 ? bits - kExactBits - 1 : 0;
    return (std::size_t{shift} << kExactBits) + (duration >> shift);
  }

  static double middle_of(std::size_t bucket) {
    const std::size_t octave = bucket >> kExactBits;
    const std::size_t shift = octave > 1 ? octave - 1 : 0;
    const Ticks first = Ticks{bucket - (shift << kExactBits)} << shift;
    return static_cast<double>(first) + static_cast<double>((Ticks{1} << shift) - 1) / 2;
  }

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
  Ticks max_ = 0;
};

}  // namespace farvec
