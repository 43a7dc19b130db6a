// How long queries took, in buckets of an eighth of a power of two.
#pragma once

#include <array>
#include <cstdint>

namespace farvec::compute_node {

/// From 1 us to 2^30 us; shorter and longer times count in the first and last bucket. A quantile is
/// off by at most an eighth. Not thread-safe.
class LatencyHistogram {
 public:
  static constexpr unsigned kOctaves = 30;

  void record(double us);

  std::uint64_t count() const { return count_; }
  double sum_us() const { return sum_us_; }
  double max_us() const { return max_us_; }
  /// Upper edge of the bucket in which the quantile lies, at most max_us(); 0 when empty.
  double quantile_us(double quantile) const;
  /// How many were shorter than 2^octave us.
  std::uint64_t below_octave(unsigned octave) const;

 private:
  static constexpr unsigned kPerOctave = 8;
  std::array<std::uint64_t, kOctaves * kPerOctave> buckets_{};
  std::uint64_t count_ = 0;
  double sum_us_ = 0;
  double max_us_ = 0;
};

}  // namespace farvec::compute_node
