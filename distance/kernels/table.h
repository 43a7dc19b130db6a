// Fills a KernelTable from one instruction set's `Ops`. Only for the .cc files of this folder.
//
// `Ops` must live in an unnamed namespace: everything instantiated with it is then local to its
// file, and the linker cannot hand code compiled for a newer processor to an older one. It has
//   static void sum<M, T>(const void* query, const RowPointers<N>& rows, std::uint32_t dimension,
//                         Sum (&sums)[N])
//       the sums that make the distances, each still in the lanes of a vector or one number;
//       the same bits for any N;
//   Sum<T>
//       the type of such a sum;
//   static float reduce(Sum sum)
//       its lanes added up;
//   static void reduce4(const Sum (&sums)[4], float* out)
//       the same bits for four sums at once, cheaper than four calls.
// For bits (b1) `Ops` has two functions in their place, where `bytes` is the length of a vector:
//   static float one<M>(const void* query, const void* row, std::size_t bytes)
//   static void four<M>(const void* query, const RowPointers<4>& rows, std::size_t bytes,
//                       float* out)
// All are inlined: with a constant dimension their loops unroll and their tails disappear.
#pragma once

#include "distance/kernels/kernels.h"

#define FARVEC_KERNEL [[gnu::always_inline]] static inline

namespace farvec::distance::kernels {

/// Bytes of rows that are prefetched before their use, in rows between the two bounds: measured
/// best on rows that are in DRAM.
inline constexpr std::size_t kAheadBytes = 6144;
inline constexpr std::size_t kFewestRowsAhead = 4;
inline constexpr std::size_t kMostRowsAhead = 16;
/// The rest of a row that is longer than this is left to the processor's own stream prefetcher.
inline constexpr std::size_t kPrefetchBytes = 1024;
/// The number of rows that share one reduction.
inline constexpr std::size_t kGroup = 4;

template <Metric M>
FARVEC_KERNEL float from_sum(float sum) {
  if constexpr (M == Metric::l2) return sum;
  if constexpr (M == Metric::inner_product) return -sum;
  if constexpr (M == Metric::cosine) return 1.0f - sum;
}

template <std::size_t N>
using RowPointers = const void* [N];

template <typename Ops, Metric M, ElementType T>
FARVEC_KERNEL float one_distance(const void* a, const void* b, std::uint32_t d) {
  if constexpr (T == ElementType::b1) {
    return Ops::template one<M>(a, b, packed_bytes(T, d));
  } else {
    typename Ops::template Sum<T> sums[1];
    Ops::template sum<M, T>(a, RowPointers<1>{b}, d, sums);
    return from_sum<M>(Ops::reduce(sums[0]));
  }
}

template <typename Ops, Metric M, ElementType T>
FARVEC_KERNEL void four_distances(const void* query, const RowPointers<4>& rows, std::uint32_t d,
                                  float* out) {
  if constexpr (T == ElementType::b1) {
    Ops::template four<M>(query, rows, packed_bytes(T, d), out);
  } else {
    typename Ops::template Sum<T> sums[4];
    Ops::template sum<M, T>(query, rows, d, sums);
    float values[4];
    Ops::reduce4(sums, values);
    for (int i = 0; i < 4; ++i) out[i] = from_sum<M>(values[i]);
  }
}

/// Dimension 0 stands for any dimension.
template <typename Ops, Metric M, ElementType T, std::uint32_t Dimension>
float distance_to_one(const void* a, const void* b, std::uint32_t dimension) {
  return one_distance<Ops, M, T>(a, b, Dimension == 0 ? dimension : Dimension);
}

template <typename Ops>
FARVEC_KERNEL void prefetch_row(const std::byte* row, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at, 0, 3);
  __builtin_prefetch(row + bytes - 1, 0, 3);
}

template <typename Ops>
FARVEC_KERNEL std::size_t rows_ahead(std::size_t row_bytes) {
  if (row_bytes * kMostRowsAhead <= kAheadBytes) return kMostRowsAhead;
  const std::size_t rows = kAheadBytes / row_bytes;
  return rows < kFewestRowsAhead ? kFewestRowsAhead : rows;
}

template <typename Ops, Metric M, ElementType T, std::uint32_t Dimension>
void distances_to_many(const void* query, const VectorView& rows, std::span<const NodeId> ids,
                       float* out) {
  const std::byte* base = rows.data;
  const std::size_t stride = rows.stride_bytes;
  const NodeId* id = ids.data();
  const std::size_t count = ids.size();
  const std::uint32_t d = Dimension == 0 ? rows.dimension : Dimension;
  const std::size_t row_bytes = packed_bytes(T, d);
  const std::size_t ahead_bytes = row_bytes < kPrefetchBytes ? row_bytes : kPrefetchBytes;
  const std::size_t ahead = rows_ahead<Ops>(row_bytes);
  for (std::size_t i = 0; i < count && i < ahead; ++i) {
    prefetch_row<Ops>(base + id[i] * stride, ahead_bytes);
  }
  std::size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    for (std::size_t j = i + ahead; j < count && j < i + ahead + kGroup; ++j) {
      prefetch_row<Ops>(base + id[j] * stride, ahead_bytes);
    }
    four_distances<Ops, M, T>(query,
                              {base + id[i] * stride, base + id[i + 1] * stride,
                               base + id[i + 2] * stride, base + id[i + 3] * stride},
                              d, out + i);
  }
  for (; i < count; ++i) out[i] = one_distance<Ops, M, T>(query, base + id[i] * stride, d);
}

template <typename Ops, std::uint32_t Dimension, Metric M, ElementType T>
void fill(KernelTable& table) {
  const auto m = static_cast<std::size_t>(M);
  const auto t = static_cast<std::size_t>(T);
  table.pair[m][t] = distance_to_one<Ops, M, T, Dimension>;
  table.many[m][t] = distances_to_many<Ops, M, T, Dimension>;
}

/// Fills kernels for rows of small elements.
template <typename Ops, std::uint32_t Dimension, Metric M, ElementType T>
void fill_small(KernelTable& table) {
  const auto m = static_cast<std::size_t>(M);
  const auto t = static_cast<std::size_t>(T);
  table.small_pair[m][t] = distance_to_one<Ops, M, T, Dimension>;
  table.small_many[m][t] = distances_to_many<Ops, M, T, Dimension>;
}

template <typename Ops, std::uint32_t Dimension>
void fill_floats(KernelTable& table) {
  fill<Ops, Dimension, Metric::l2, ElementType::f32>(table);
  fill<Ops, Dimension, Metric::l2, ElementType::f16>(table);
  fill<Ops, Dimension, Metric::inner_product, ElementType::f32>(table);
  fill<Ops, Dimension, Metric::inner_product, ElementType::f16>(table);
  fill<Ops, Dimension, Metric::cosine, ElementType::f32>(table);
  fill<Ops, Dimension, Metric::cosine, ElementType::f16>(table);
}

template <typename Ops, std::uint32_t Dimension>
void fill_integers(KernelTable& table) {
  fill<Ops, Dimension, Metric::l2, ElementType::u8>(table);
  fill<Ops, Dimension, Metric::l2, ElementType::i8>(table);
  fill<Ops, Dimension, Metric::inner_product, ElementType::u8>(table);
  fill<Ops, Dimension, Metric::inner_product, ElementType::i8>(table);
}

}  // namespace farvec::distance::kernels
