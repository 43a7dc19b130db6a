// A SlottedGeometry is the shape of slotted pages: what a page holds, and where pages are. Source:
// VeloANN section 3.3; bytes in docs/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/memory.h"
#include "base/types.h"
#include "layout/region/region_bytes.h"

namespace farvec::layout {

/// A PayloadKind is what a record holds beside its neighbours. code: the extension of a code whose
/// top bit is in DRAM. vector: the stored vector.
enum class PayloadKind : std::uint8_t { code = 0, vector = 1 };

/// Returns "code", "vector".
std::string_view to_string(PayloadKind kind);
/// Throws Error naming the accepted words.
PayloadKind parse_payload_kind(std::string_view text);

struct SlottedGeometry {
  static constexpr std::uint32_t kHeaderBytes = 12;
  static constexpr std::uint32_t kSlotBytes = 9;
  static constexpr std::uint32_t kLeastPageBytes = 4096;
  static constexpr std::uint32_t kMostPageBytes = 16384;
  /// Page numbers have 31 bits; the other bit of a page map's entry belongs to the reader.
  static constexpr std::uint32_t kMostPages = (1u << 31) - 1;

  PayloadKind payload = PayloadKind::code;
  std::uint32_t extension_bits = 0;  ///< bits per dimension, 1 to 7; 0 unless the payload is a code
  std::uint32_t payload_bytes = 0;   ///< payload bytes of every record
  std::uint32_t page_bytes = kLeastPageBytes;
  std::uint32_t max_degree = 0;
  std::uint32_t pages = 0;
  std::size_t count = 0;  ///< number of vertices

  /// Returns the bytes of a page that slots and records share.
  std::uint32_t page_capacity() const { return page_bytes - kHeaderBytes; }
  std::uint32_t degree_bytes() const { return max_degree < 256 ? 1 : 2; }
  std::uint32_t least_record_bytes() const { return degree_bytes() + payload_bytes; }
  /// Returns the bytes that a buffer for one record must hold.
  std::uint32_t max_record_bytes() const;
  /// Ids that the scratch of decode_slotted_record() must hold: it is written in groups of four.
  std::uint32_t scratch_ids() const { return static_cast<std::uint32_t>(round_up(max_degree, 4)); }
  /// Counts from the start of the region; a multiple of 4096.
  std::uint64_t page_offset(std::uint32_t page) const {
    return kRegionHeaderBytes + std::uint64_t{page} * page_bytes;
  }
  /// Returns the bytes of header and all pages.
  std::uint64_t region_bytes() const { return page_offset(pages); }
  /// Throws Error saying which field is out of range, or that no record fits a page. `pages` is not
  /// checked.
  void validate() const;
  /// Throws Error, naming the page size that would do, when a page cannot hold such a record.
  void require_fits(std::size_t record_bytes) const;
};

}  // namespace farvec::layout
