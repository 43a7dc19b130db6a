// Sets of rows whose neighbours codes of the usual bits do not tell apart, and plain ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "dataset/vector_set.h"
#include "distance/distance.h"

namespace farvec::indexing {

inline constexpr std::uint32_t kOddDimension = 48;
inline constexpr std::size_t kOddCount = 3000;

/// Writes the values of one row.
using RowMaker = std::function<void(Random&, std::vector<float>&)>;

struct OddRows {
  std::string name;
  bool odd = true;  ///< whether the usual codes fail
  RowMaker make;
};

inline void fill_normal(Random& random, std::vector<float>& row) {
  for (float& value : row) value = static_cast<float>(random.normal());
}

/// A direction that is no axis, of length 1.
inline std::vector<float> slanted(std::size_t dimension) {
  Random random(77);
  std::vector<float> direction(dimension);
  fill_normal(random, direction);
  float norm2 = 0;
  for (const float value : direction) norm2 += value * value;
  for (float& value : direction) value /= std::sqrt(norm2);
  return direction;
}

inline std::vector<OddRows> odd_rows() {
  return {{"plain", false, fill_normal},
          {"one wide coordinate", true,
           [](Random& random, std::vector<float>& row) {
             fill_normal(random, row);
             row[0] *= 100;
           }},
          {"five wide coordinates", true,
           [](Random& random, std::vector<float>& row) {
             fill_normal(random, row);
             for (int i = 0; i < 5; ++i) row[i] *= 100;
           }},
          {"a wide direction", true,
           [](Random& random, std::vector<float>& row) {
             fill_normal(random, row);
             const std::vector<float> direction = slanted(row.size());
             const auto along = static_cast<float>(100 * random.normal());
             for (std::size_t i = 0; i < row.size(); ++i) row[i] += along * direction[i];
           }},
          {"two far clusters", true, [](Random& random, std::vector<float>& row) {
             fill_normal(random, row);
             if (random.next() >> 63 != 0) {
               for (float& value : row) value += 300;
             }
           }}};
}

/// Stored form of `count` rows; integers are scaled to their range.
inline dataset::VectorSet make_rows(const OddRows& kind, std::size_t count, std::uint32_t dimension,
                                    ElementType type) {
  Random random(9);
  std::vector<float> values;
  std::vector<float> row(dimension);
  for (std::size_t i = 0; i < count; ++i) {
    kind.make(random, row);
    values.insert(values.end(), row.begin(), row.end());
  }
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  const bool integer = element_bytes(type) == 1;
  const float scale = integer ? 120 / largest : 1, shift = type == ElementType::u8 ? 128.0f : 0.0f;
  for (float& value : values) value = value * scale + shift;
  dataset::VectorSet rows(count, dimension, type);
  for (std::size_t i = 0; i < count; ++i) {
    distance::narrow(&values[i * dimension], type, dimension, rows.mutable_row(i));
  }
  return rows;
}

}  // namespace farvec::indexing
