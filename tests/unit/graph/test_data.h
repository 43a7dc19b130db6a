// Small seeded data sets for graph tests.
#pragma once

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "graph/vamana_builder.h"

namespace farvec::graph::testing {

/// Gaussian clusters in f32: rows owned by `values`.
struct Cloud {
  Cloud(std::size_t count, std::uint32_t dim, std::uint64_t seed) : dimension(dim) {
    Random random(seed);
    std::vector<float> centers(8 * dim);
    for (float& c : centers) c = static_cast<float>(4 * random.normal());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t center = random.below(8);
      for (std::uint32_t d = 0; d < dim; ++d) {
        values.push_back(centers[center * dim + d] + static_cast<float>(random.normal()));
      }
    }
  }
  VectorView view() const {
    return packed_view(values.data(), values.size() / dimension, dimension, ElementType::f32);
  }
  std::uint32_t dimension;
  std::vector<float> values;
};

/// Rows on a bent surface of two dimensions, denser towards one end, in f32: nothing of them is
/// Gaussian, and neighbours lie in few directions.
struct Surface {
  Surface(std::size_t count, std::uint32_t dim, std::uint64_t seed) : dimension(dim) {
    Random random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      const double along = random.uniform() * random.uniform() * 6;
      const double across = random.uniform();
      for (std::uint32_t d = 0; d < dim; ++d) {
        values.push_back(static_cast<float>(std::sin(along * (d % 5 + 1) + d) * (1 + across * d)));
      }
    }
  }
  VectorView view() const {
    return packed_view(values.data(), values.size() / dimension, dimension, ElementType::f32);
  }
  std::uint32_t dimension;
  std::vector<float> values;
};

/// Options for a graph of degree 16.
inline VamanaOptions quiet_options() {
  VamanaOptions options;
  options.degree = 16;
  options.list = 40;
  options.quiet = true;
  options.threads = 2;
  return options;
}

}  // namespace farvec::graph::testing
