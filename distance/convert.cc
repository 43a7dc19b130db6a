// This file defines widen, narrow and to_stored.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/packed_bits.h"
#include "base/stored_form.h"
#include "distance/distance.h"
#include "distance/kernels/kernels.h"

namespace farvec::distance {
namespace {

/// Rows are normalised in pieces of this many elements, so that little stack is needed.
constexpr std::uint32_t kPiece = 256;

template <typename T>
void widen_integers(const void* row, std::uint32_t dimension, float* out) {
  const auto* values = static_cast<const T*>(row);
  for (std::uint32_t i = 0; i < dimension; ++i) out[i] = static_cast<float>(values[i]);
}

void widen_bits(const void* row, std::uint32_t dimension, float* out) {
  const auto* bytes = static_cast<const std::byte*>(row);
  for (std::uint32_t i = 0; i < dimension; ++i) {
    out[i] = static_cast<float>((std::to_integer<unsigned>(bytes[i / 8]) >> (i % 8)) & 1u);
  }
}

/// Adding 1.5 * 2^23 leaves the value, rounded to nearest even, in the low bits.
template <typename T>
void narrow_integers(const float* row, std::uint32_t dimension, void* out) {
  constexpr float kRound = 0x1.8p23f;
  constexpr float kLow = std::numeric_limits<T>::min();
  constexpr float kHigh = std::numeric_limits<T>::max();
  auto* values = static_cast<T*>(out);
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const float number = row[i] == row[i] ? row[i] : 0.0f;
    const float clamped = number < kLow ? kLow : (number > kHigh ? kHigh : number);
    values[i] = static_cast<T>(std::bit_cast<std::int32_t>(clamped + kRound));
  }
}

const kernels::KernelTable& conversions() {
  static const kernels::KernelTable table = kernels::table_for(active_isa(), 1);
  return table;
}

const std::byte* piece(const void* row, ElementType type, std::uint32_t first) {
  return static_cast<const std::byte*>(row) + packed_bytes(type, first);
}

double squared_norm(const void* row, ElementType type, std::uint32_t dimension) {
  float values[kPiece];
  double sum = 0;
  for (std::uint32_t first = 0; first < dimension; first += kPiece) {
    const std::uint32_t count = std::min(kPiece, dimension - first);
    widen(piece(row, type, first), type, count, values);
    for (std::uint32_t i = 0; i < count; ++i) sum += double{values[i]} * double{values[i]};
  }
  return sum;
}

}  // namespace

void widen(const void* row, ElementType type, std::uint32_t dimension, float* out) {
  switch (type) {
    case ElementType::f32:
      std::memcpy(out, row, dimension * sizeof(float));
      return;
    case ElementType::f16:
      conversions().widen_f16(row, dimension, out);
      return;
    case ElementType::u8:
      widen_integers<std::uint8_t>(row, dimension, out);
      return;
    case ElementType::i8:
      widen_integers<std::int8_t>(row, dimension, out);
      return;
    case ElementType::b1:
      widen_bits(row, dimension, out);
      return;
  }
}

void narrow(const float* row, ElementType type, std::uint32_t dimension, void* out) {
  switch (type) {
    case ElementType::f32:
      std::memcpy(out, row, dimension * sizeof(float));
      return;
    case ElementType::f16:
      conversions().narrow_f16(row, dimension, out);
      return;
    case ElementType::u8:
      narrow_integers<std::uint8_t>(row, dimension, out);
      return;
    case ElementType::i8:
      narrow_integers<std::int8_t>(row, dimension, out);
      return;
    case ElementType::b1:
      pack_bits(dimension, static_cast<std::byte*>(out),
                [&](std::uint32_t i) { return row[i] > 0.5f; });
      return;
  }
}

void to_stored(const void* row, ElementType source, Metric metric, std::uint32_t dimension,
               void* out) {
  if (!stores_unit_vectors(metric)) {
    std::memcpy(out, row, packed_bytes(source, dimension));
    return;
  }
  const ElementType target = stored_type(metric, source);
  const double norm = std::sqrt(squared_norm(row, source, dimension));
  const double scale = norm > 0 ? 1.0 / norm : 0.0;
  float values[kPiece];
  for (std::uint32_t first = 0; first < dimension; first += kPiece) {
    const std::uint32_t count = std::min(kPiece, dimension - first);
    widen(piece(row, source, first), source, count, values);
    for (std::uint32_t i = 0; i < count; ++i) values[i] = static_cast<float>(values[i] * scale);
    narrow(values, target, count, static_cast<std::byte*>(out) + packed_bytes(target, first));
  }
}

}  // namespace farvec::distance
