// Defines the loop over planes and columns that the vector scans share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "quantization/kernels/scan.h"

namespace farvec::quantization {

/// Adds up the entries that the block's columns name, in runs of at most kSumColumns columns, and
/// returns where the block's factors begin. Totals is local to its file, so that code compiled for
/// one instruction set is never linked into another's code; it has
///   void twice();                                      every sum times 2
///   void add(const std::uint8_t* columns, const std::uint8_t* tables, std::uint32_t count);
template <typename Totals>
inline const std::uint8_t* scan_planes(const ScanShape& shape, const ScanQuery& query,
                                       const std::uint8_t* block, Totals& totals) {
  for (std::uint32_t plane = 0; plane < shape.bits; ++plane) {
    totals.twice();
    for (std::uint32_t done = 0; done < shape.columns; done += kSumColumns) {
      const std::size_t at = std::size_t{done} * ScanShape::kColumnBytes;
      totals.add(block + at, query.tables + at, std::min(kSumColumns, shape.columns - done));
    }
    block += shape.plane_bytes();
  }
  return block;
}

}  // namespace farvec::quantization
