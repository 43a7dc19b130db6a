// This is the oracle: it computes distances exactly by their definitions, in double precision, one
// element at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/memory.h"
#include "base/types.h"
#include "distance/half.h"

namespace farvec::distance::reference {

inline double element(const void* row, ElementType type, std::uint32_t i) {
  if (type == ElementType::b1) {
    const auto byte = std::to_integer<unsigned>(static_cast<const std::byte*>(row)[i / 8]);
    return (byte >> (i % 8)) & 1u;
  }
  const auto* address = static_cast<const std::byte*>(row) + i * element_bytes(type);
  switch (type) {
    case ElementType::f32:
      return load_unaligned<float>(address);
    case ElementType::f16:
      return half_to_float(load_unaligned<std::uint16_t>(address));
    case ElementType::u8:
      return load_unaligned<std::uint8_t>(address);
    default:
      return load_unaligned<std::int8_t>(address);
  }
}

inline double dot(const void* a, const void* b, ElementType type, std::uint32_t dimension) {
  double sum = 0;
  for (std::uint32_t i = 0; i < dimension; ++i) sum += element(a, type, i) * element(b, type, i);
  return sum;
}

inline double squared_l2(const void* a, const void* b, ElementType type, std::uint32_t dimension) {
  double sum = 0;
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const double difference = element(a, type, i) - element(b, type, i);
    sum += difference * difference;
  }
  return sum;
}

/// Two vectors without any bit have a jaccard distance of 1.
inline double jaccard(const void* a, const void* b, std::uint32_t dimension) {
  double both = 0, either = 0;
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const double x = element(a, ElementType::b1, i);
    const double y = element(b, ElementType::b1, i);
    both += x * y;
    either += x + y - x * y;
  }
  return either == 0 ? 1.0 : (either - both) / either;  // rounded once
}

/// Has pair_kernel()'s definition: cosine takes vectors that are already normalised.
inline double distance(Metric metric, ElementType type, const void* a, const void* b,
                       std::uint32_t dimension) {
  if (metric == Metric::jaccard) return jaccard(a, b, dimension);
  // Two bits differ by 1 or 0.
  if (metric == Metric::l2 || metric == Metric::hamming) {
    return squared_l2(a, b, type, dimension);
  }
  const double product = dot(a, b, type, dimension);
  return metric == Metric::cosine ? 1.0 - product : -product;
}

}  // namespace farvec::distance::reference
