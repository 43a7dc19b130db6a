// Rows for tests of orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "distance/distance.h"

namespace farvec::indexing::testing {

/// Rows of any element type, owned.
struct OrderRows {
  OrderRows(const std::vector<float>& values, std::uint32_t dim,
            ElementType element_type = ElementType::f32)
      : bytes(values.size() * element_bytes(element_type)), dimension(dim), type(element_type) {
    for (std::size_t i = 0; i < values.size() / dim; ++i) {
      distance::narrow(&values[i * dim], type, dim, bytes.data() + i * dim * element_bytes(type));
    }
  }
  VectorView view() const {
    return packed_view(bytes.data(), bytes.size() / (dimension * element_bytes(type)), dimension,
                       type);
  }
  /// What is stored, in double.
  std::vector<double> row(std::size_t i) const {
    std::vector<float> wide(dimension);
    distance::widen(view().row(i), type, dimension, wide.data());
    return {wide.begin(), wide.end()};
  }

  std::vector<std::byte> bytes;
  std::uint32_t dimension;
  ElementType type;
};

/// Normal rows around 10, whose deviation falls from element to element, mixed by a shear.
inline OrderRows sheared_rows(std::size_t count, std::uint32_t dimension,
                              ElementType type = ElementType::f32) {
  Random random(3);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    double before = 0;
    for (std::uint32_t d = 0; d < dimension; ++d) {
      const double value = random.normal() * 30 / (1 + d);
      values.push_back(static_cast<float>(10 + value + 0.5 * before));
      before = value;
    }
  }
  return OrderRows(values, dimension, type);
}

inline bool is_permutation_of_rows(std::vector<NodeId> order, std::size_t count) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return order.size() == count;
}

}  // namespace farvec::indexing::testing
