// This file is plain C++ for any processor. It keeps sixteen sums at a time, so that a compiler may
// use vectors.
#include <cstring>
#include <type_traits>

#include "distance/half.h"
#include "distance/kernels/table.h"

namespace farvec::distance::kernels {
namespace {

constexpr std::uint32_t kLanes = 16;

template <typename T>
T load(const void* row, std::uint32_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(row) + i * sizeof(T), sizeof(T));
  return value;
}

template <ElementType T>
auto element(const void* row, std::uint32_t i) {
  if constexpr (T == ElementType::f32) return load<float>(row, i);
  if constexpr (T == ElementType::f16) return half_to_float(load<std::uint16_t>(row, i));
  if constexpr (T == ElementType::u8) return std::int32_t{load<std::uint8_t>(row, i)};
  if constexpr (T == ElementType::i8) return std::int32_t{load<std::int8_t>(row, i)};
}

template <Metric M, ElementType T>
auto term(const void* a, const void* b, std::uint32_t i) {
  const auto x = element<T>(a, i);
  const auto y = element<T>(b, i);
  if constexpr (M == Metric::l2) {
    return (x - y) * (x - y);
  } else {
    return x * y;
  }
}

template <Metric M, ElementType T>
FARVEC_KERNEL auto sum_of_pair(const void* a, const void* b, std::uint32_t dimension) {
  using Number = decltype(term<M, T>(a, b, 0));
  Number sums[kLanes] = {};
  std::uint32_t i = 0;
  for (; i + kLanes <= dimension; i += kLanes) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) sums[lane] += term<M, T>(a, b, i + lane);
  }
  for (std::uint32_t lane = 0; i + lane < dimension; ++lane) {
    sums[lane] += term<M, T>(a, b, i + lane);
  }
  for (std::uint32_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::uint32_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

struct Ops {
  template <ElementType T>
  using Sum = std::conditional_t<element_bytes(T) == 1, std::int32_t, float>;

  template <Metric M, ElementType T, std::size_t N>
  FARVEC_KERNEL void sum(const void* query, const RowPointers<N>& rows, std::uint32_t dimension,
                         Sum<T> (&sums)[N]) {
    for (std::size_t n = 0; n < N; ++n) sums[n] = sum_of_pair<M, T>(query, rows[n], dimension);
  }
  template <typename Sum>
  FARVEC_KERNEL float reduce(Sum sum) {
    return static_cast<float>(sum);
  }
  template <typename Sum>
  FARVEC_KERNEL void reduce4(const Sum (&sums)[4], float* out) {
    for (int i = 0; i < 4; ++i) out[i] = static_cast<float>(sums[i]);
  }
};

void widen_f16(const void* row, std::uint32_t dimension, float* out) {
  for (std::uint32_t i = 0; i < dimension; ++i) out[i] = element<ElementType::f16>(row, i);
}

void narrow_f16(const float* row, std::uint32_t dimension, void* out) {
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const std::uint16_t half = float_to_half(row[i]);
    std::memcpy(static_cast<std::byte*>(out) + i * sizeof(half), &half, sizeof(half));
  }
}

}  // namespace

KernelTable portable_table() {
  KernelTable table;
  fill_floats<Ops, 0>(table);
  fill_integers<Ops, 0>(table);
  table.widen_f16 = widen_f16;
  table.narrow_f16 = narrow_f16;
  return table;
}

}  // namespace farvec::distance::kernels
