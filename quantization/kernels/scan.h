// Scan kernels estimate a block of 32 neighbours by table look-ups, one file per instruction set.
// Source: André et al., "Cache locality is not enough: high-performance nearest neighbor search
// with product quantization fast scan" (VLDB 2015); for RaBitQ codes: Gou et al., "SymphonyQG"
// (SIGMOD 2025).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory.h"
#include "distance/isa.h"

namespace farvec::quantization {

/// The number of neighbours that one block holds and one call estimates.
inline constexpr std::uint32_t kScanBlock = 32;

/// Says where the bytes of a block are. A column holds one bit of four consecutive dimensions for
/// all 32 neighbours: the low half of byte i belongs to neighbour i, its high half to neighbour i +
/// 16. The columns of the most significant bit come first; after the last plane come 32 add factors
/// and 32 rescale factors of 16 bits.
struct ScanShape {
  static constexpr std::uint32_t kColumnBytes = 16;
  /// The columns of one plane are a multiple of it: a register of 64 bytes holds four.
  static constexpr std::uint32_t kColumnGroup = 4;

  std::uint32_t bits = 0;     ///< number of planes
  std::uint32_t columns = 0;  ///< columns of one plane

  ScanShape() = default;
  constexpr ScanShape(std::uint32_t dimension, std::uint32_t bits_)
      : bits(bits_),
        columns(static_cast<std::uint32_t>(round_up((dimension + 3) / 4, kColumnGroup))) {}

  constexpr std::uint32_t plane_bytes() const { return columns * kColumnBytes; }
  constexpr std::uint32_t code_bytes() const { return bits * plane_bytes(); }
  constexpr std::uint32_t block_bytes() const {
    return code_bytes() + 2 * kScanBlock * static_cast<std::uint32_t>(sizeof(std::uint16_t));
  }
};

/// A ScanQuery is a query in the form that the kernels read: estimate = (base + add_scale * add) -
/// (rescale_base + rescale_scale * rescale) * (sum - bias), each step rounded to a float, where sum
/// adds up the table entries that the neighbour's columns name, those of plane p times 2^(bits - 1
/// - p).
struct ScanQuery {
  /// 16 entries for every column of a plane, 64-byte aligned. No entry is above kTopEntry.
  const std::uint8_t* tables = nullptr;
  float base = 0, add_scale = 0;
  float rescale_base = 0, rescale_scale = 0;
  float bias = 0;
  float bound = 0;
};

/// The sum of four digits of at most 63 each.
inline constexpr std::uint32_t kTopEntry = 252;
/// This many columns add up to less than 2^16.
inline constexpr std::uint32_t kSumColumns = 256;
static_assert(kSumColumns * kTopEntry < (1u << 16));

/// Writes kScanBlock estimates to `out`. Bit i of the result is set where estimate i is below
/// query.bound. `block` has shape.block_bytes(), at any alignment. All kernels give the same bits.
using ScanKernel = std::uint32_t (*)(const ScanShape& shape, const ScanQuery& query,
                                     const std::uint8_t* block, float* out);

std::uint32_t portable_scan(const ScanShape& shape, const ScanQuery& query,
                            const std::uint8_t* block, float* out);
#if defined(__x86_64__)
std::uint32_t avx2_scan(const ScanShape& shape, const ScanQuery& query, const std::uint8_t* block,
                        float* out);
std::uint32_t avx512_scan(const ScanShape& shape, const ScanQuery& query, const std::uint8_t* block,
                          float* out);
#elif defined(__aarch64__)
std::uint32_t neon_scan(const ScanShape& shape, const ScanQuery& query, const std::uint8_t* block,
                        float* out);
#endif

/// Returns the best kernel within `isa`.
ScanKernel select_scan(distance::Isa isa);

}  // namespace farvec::quantization
