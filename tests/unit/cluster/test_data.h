// Small seeded data sets for cluster tests.
#pragma once

#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "distance/distance.h"

namespace farvec::cluster::testing {

/// Rows of any element type, owned.
struct Rows {
  Rows(const std::vector<float>& values, std::uint32_t dim, ElementType element_type)
      : bytes(values.size() * element_bytes(element_type)), dimension(dim), type(element_type) {
    for (std::size_t i = 0; i < values.size() / dim; ++i) {
      distance::narrow(&values[i * dim], type, dim, bytes.data() + i * dim * element_bytes(type));
    }
  }
  VectorView view() const {
    return packed_view(bytes.data(), bytes.size() / (dimension * element_bytes(type)), dimension,
                       type);
  }
  std::vector<std::byte> bytes;
  std::uint32_t dimension;
  ElementType type;
};

/// Points around a few centres, between -100 and 100 nearly always.
inline std::vector<float> clouds(std::size_t count, std::uint32_t dimension, std::uint64_t seed,
                                 std::size_t centers = 10) {
  Random random(seed);
  std::vector<float> middle(centers * dimension);
  for (float& c : middle) c = static_cast<float>(20 * random.normal());
  std::vector<float> values;
  values.reserve(count * dimension);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t center = random.below(centers);
    for (std::uint32_t d = 0; d < dimension; ++d) {
      values.push_back(middle[center * dimension + d] + static_cast<float>(8 * random.normal()));
    }
  }
  return values;
}

inline Rows cloud_rows(std::size_t count, std::uint32_t dimension, std::uint64_t seed,
                       ElementType type = ElementType::f32) {
  return Rows(clouds(count, dimension, seed), dimension, type);
}

}  // namespace farvec::cluster::testing
