// A RowBitmap is a compressed set of row numbers: CRoaring's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <roaring/roaring.hh>

namespace roaring {}  // namespace roaring

namespace farvec::attributes {
namespace library {
using namespace ::roaring;  // NOLINT(google-build-using-namespace)
using Bitmap = Roaring;
}  // namespace library

/// Threads may read one bitmap at the same time.
using RowBitmap = library::Bitmap;

/// The rows of one part of a bitmap, which the library keeps by itself.
inline constexpr std::uint32_t kContainerRows = 1u << 16;
/// About what a part costs besides its rows: two allocations and their places.
inline constexpr std::size_t kContainerBytes = 64;

/// Returns about how many bytes a bitmap takes from the heap.
inline std::size_t heap_bytes(const RowBitmap& rows) {
  if (rows.isEmpty()) return 0;
  const std::size_t most = rows.maximum() / kContainerRows + 1;
  return rows.getSizeInBytes(false) + kContainerBytes * std::min(most, rows.cardinality());
}

}  // namespace farvec::attributes
