// Fills a KernelTable from one instruction set's `Ops`. Only for the .cc files of this folder.
//
// `Ops` must live in an unnamed namespace: everything instantiated with it is then local to its
// file, and the linker cannot hand code compiled for a newer processor to an older one. It has
//   template <Metric M, ElementType T> static float distance(const void* a, const void* b,
//                                                            std::uint32_t dimension);
//   static void widen_f16(...), narrow_f16(...);
#pragma once

#include "distance/kernels/kernels.h"

namespace farvec::distance::kernels {

/// Rows whose first lines are asked for before the row in hand is read.
inline constexpr std::size_t kRowsAhead = 4;
/// More of a row than this is left to the processor's own stream prefetcher.
inline constexpr std::size_t kPrefetchBytes = 1024;

template <typename Ops, Metric M, ElementType T>
float distance_to_one(const void* a, const void* b, std::uint32_t dimension) {
  return Ops::template distance<M, T>(a, b, dimension);
}

template <typename Ops>
void prefetch_row(const std::byte* row, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at, 0, 3);
  __builtin_prefetch(row + bytes - 1, 0, 3);
}

template <typename Ops, Metric M, ElementType T>
void distances_to_many(const void* query, const VectorView& rows, std::span<const NodeId> ids,
                       float* out) {
  const std::size_t count = ids.size();
  const std::uint32_t dimension = rows.dimension;
  const std::size_t row_bytes = dimension * element_bytes(T);
  const std::size_t ahead_bytes = row_bytes < kPrefetchBytes ? row_bytes : kPrefetchBytes;
  for (std::size_t i = 0; i < count && i < kRowsAhead; ++i) {
    prefetch_row<Ops>(rows.row(ids[i]), ahead_bytes);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kRowsAhead < count) prefetch_row<Ops>(rows.row(ids[i + kRowsAhead]), ahead_bytes);
    out[i] = Ops::template distance<M, T>(query, rows.row(ids[i]), dimension);
  }
}

template <typename Ops, Metric M, ElementType T>
void fill(KernelTable& table) {
  const auto m = static_cast<std::size_t>(M);
  const auto t = static_cast<std::size_t>(T);
  table.pair[m][t] = distance_to_one<Ops, M, T>;
  table.many[m][t] = distances_to_many<Ops, M, T>;
}

template <typename Ops>
KernelTable make_table() {
  KernelTable table;
  fill<Ops, Metric::l2, ElementType::f32>(table);
  fill<Ops, Metric::l2, ElementType::f16>(table);
  fill<Ops, Metric::l2, ElementType::u8>(table);
  fill<Ops, Metric::l2, ElementType::i8>(table);
  fill<Ops, Metric::inner_product, ElementType::f32>(table);
  fill<Ops, Metric::inner_product, ElementType::f16>(table);
  fill<Ops, Metric::inner_product, ElementType::u8>(table);
  fill<Ops, Metric::inner_product, ElementType::i8>(table);
  fill<Ops, Metric::cosine, ElementType::f32>(table);
  fill<Ops, Metric::cosine, ElementType::f16>(table);
  table.widen_f16 = Ops::widen_f16;
  table.narrow_f16 = Ops::narrow_f16;
  return table;
}

}  // namespace farvec::distance::kernels
