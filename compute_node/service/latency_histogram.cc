#include "compute_node/service/latency_histogram.h"

#include <algorithm>
#include <cmath>

namespace farvec::compute_node {

void LatencyHistogram::record(double us) {
  std::size_t bucket = 0;
  if (us >= 1) {
    int exponent;  // us = fraction * 2^exponent, fraction in [0.5, 1)
    const double fraction = std::frexp(us, &exponent);
    const auto part = static_cast<std::size_t>((fraction - 0.5) * 2 * kPerOctave);
    bucket = static_cast<std::size_t>(exponent - 1) * kPerOctave + part;
  }
  ++buckets_[std::min(bucket, buckets_.size() - 1)];
  ++count_;
  sum_us_ += us;
  max_us_ = std::max(max_us_, us);
}

double LatencyHistogram::quantile_us(double quantile) const {
  const double rank = quantile * static_cast<double>(count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (buckets_[i] == 0 || static_cast<double>(seen) < rank) continue;
    const double edge = std::ldexp(1.0 + static_cast<double>(i % kPerOctave + 1) / kPerOctave,
                                   static_cast<int>(i / kPerOctave));
    return std::min(edge, max_us_);
  }
  return max_us_;
}

std::uint64_t LatencyHistogram::below_octave(unsigned octave) const {
  std::uint64_t sum = 0;
  const std::size_t end = std::min<std::size_t>(std::size_t{octave} * kPerOctave, buckets_.size());
  for (std::size_t i = 0; i < end; ++i) sum += buckets_[i];
  return sum;
}

}  // namespace farvec::compute_node
