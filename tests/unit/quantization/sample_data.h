// Vectors for the statistical tests: anisotropic and clustered, as embeddings are.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "distance/distance.h"

namespace farvec::quantization {

/// `count` rows around eight centres; the spread falls off over the dimensions by a factor of 20.
inline std::vector<float> sample_rows(std::size_t count, std::uint32_t dimension,
                                      std::uint64_t seed) {
  Random shape(12345), random(seed);
  std::vector<float> centres(8 * dimension);
  for (float& x : centres) x = static_cast<float>(2 * shape.normal() + 0.5);
  std::vector<float> rows(count * dimension);
  for (std::size_t i = 0; i < count; ++i) {
    const float* centre = centres.data() + random.below(8) * dimension;
    for (std::uint32_t j = 0; j < dimension; ++j) {
      const double spread = 2.0 * std::pow(0.05, static_cast<double>(j) / dimension);
      rows[i * dimension + j] = static_cast<float>(centre[j] + spread * random.normal());
    }
  }
  return rows;
}

/// Independent normal values, the same for the same seed.
inline std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

/// Scales rows to unit length, as cosine stores them.
inline void normalize_rows(std::vector<float>& rows, std::uint32_t dimension) {
  for (std::size_t begin = 0; begin < rows.size(); begin += dimension) {
    double square = 0;
    for (std::uint32_t j = 0; j < dimension; ++j) square += rows[begin + j] * rows[begin + j];
    const auto scale = static_cast<float>(1 / std::sqrt(square));
    for (std::uint32_t j = 0; j < dimension; ++j) rows[begin + j] *= scale;
  }
}

inline double exact_distance(Metric metric, const float* a, const float* b,
                             std::uint32_t dimension) {
  double dot = 0, square = 0;
  for (std::uint32_t j = 0; j < dimension; ++j) {
    const double difference = static_cast<double>(a[j]) - b[j];
    dot += static_cast<double>(a[j]) * b[j];
    square += difference * difference;
  }
  return metric == Metric::l2 ? square : (metric == Metric::cosine ? 1.0 : 0.0) - dot;
}

}  // namespace farvec::quantization
