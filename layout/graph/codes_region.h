// The codes region holds what estimates need beside the records, then one code record per vector.
// In the inline layout, whose codes are in the records, it holds the vectors where searches start
// instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "layout/graph/codes_shape.h"
#include "layout/region/region_bytes.h"

namespace farvec::layout {

/// The first bytes of the payload; `dimension` floats of centroid follow it, and the records begin
/// at records_offset(). Little-endian; see docs/format.md. The layout does not know what the fields
/// mean: they are quantization's parameters, translated by the caller.
struct CodesHeader {
  std::uint32_t bits = 0;  ///< bits per dimension
  std::uint32_t dimension = 0;
  std::uint32_t record_bytes = 0;
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;
  /// Bits per dimension, in the graph's records; 0: these are whole codes.
  std::uint8_t extension_bits = 0;
  std::uint8_t reserved = 0;
  std::uint64_t seed = 0;
  std::uint64_t count = 0;
  float add_min = 0;
  float add_max = 0;
  float rescale_min = 0;
  float rescale_max = 0;
  float error_max = 0;
  // Ranges of the factors of a code together with its extension; 0 without an extension. Its add
  // factors also range from add_min to add_max.
  float whole_rescale_min = 0;
  float whole_rescale_max = 0;
  float whole_error_max = 0;

  /// Counts from the start of the payload; a multiple of 4096.
  std::uint64_t records_offset() const {
    return round_up(sizeof(CodesHeader) + std::size_t{dimension} * sizeof(float), 4096);
  }
  std::uint64_t payload_bytes() const { return records_offset() + count * record_bytes; }
};
static_assert(sizeof(CodesHeader) == 64);
static_assert(offsetof(CodesHeader, metric) == 12 && offsetof(CodesHeader, type) == 13);
static_assert(offsetof(CodesHeader, seed) == 16 && offsetof(CodesHeader, add_min) == 32);
static_assert(offsetof(CodesHeader, extension_bits) == 14);
static_assert(offsetof(CodesHeader, error_max) == 48);
static_assert(offsetof(CodesHeader, whole_rescale_min) == 52);

/// A CodesView borrows what a writer stores.
struct CodesView {
  CodesHeader header;
  std::span<const float> centroid;     ///< header.dimension floats
  std::span<const std::byte> records;  ///< header.count * header.record_bytes bytes
};

/// Codes are what a reader keeps in DRAM.
struct Codes {
  CodesHeader header;
  std::vector<float> centroid;
  HugeBuffer region;  ///< the whole region, so that it is read from a file or a peer in one piece

  const std::byte* records() const {
    return region.data() + kRegionHeaderBytes + header.records_offset();
  }
  /// Throws Error when there are not `count` records of `record_bytes`.
  void require_records(std::uint64_t count, std::size_t record_bytes) const;
};

/// Encodes header and centroid, padded to header.records_offset() bytes.
std::vector<std::byte> encode_codes_preamble(const CodesView& codes);

/// Takes over a region's bytes, header included. Throws Error, naming `source`, when they do not
/// have the `shape` or contradict their size.
Codes parse_codes(HugeBuffer region, const CodesShape& shape, std::string_view source);

}  // namespace farvec::layout
