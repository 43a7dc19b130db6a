#include "layout/pages/slotted_geometry.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "layout/graph/neighbor_list.h"
#include "layout/graph/offset_table.h"

namespace farvec::layout {

std::string_view to_string(PayloadKind kind) {
  return kind == PayloadKind::code ? "code" : "vector";
}

PayloadKind parse_payload_kind(std::string_view text) {
  for (const PayloadKind kind : {PayloadKind::code, PayloadKind::vector}) {
    if (text == to_string(kind)) return kind;
  }
  throw Error("unknown payload '{}': use code or vector", text);
}

std::uint32_t SlottedGeometry::max_record_bytes() const {
  // The differences of a list add up to less than `count`, so only few of them can be long.
  std::uint64_t saved = 0;
  for (const unsigned bits : {8u, 16u, 24u}) {
    saved += max_degree - std::min<std::uint64_t>(max_degree, (count - 1) >> bits);
  }
  return least_record_bytes() + max_list_bytes(max_degree) - static_cast<std::uint32_t>(saved);
}

void SlottedGeometry::validate() const {
  const auto require = [](bool good, const char* field, std::uint64_t value) {
    if (!good) throw Error("a slotted index's {} cannot be {}", field, value);
  };
  require(count >= 1 && count < kInvalidNode, "vertex count", count);
  require(payload_bytes >= 1 && payload_bytes <= kMaxVectorBytes, "payload_bytes", payload_bytes);
  require(payload == PayloadKind::code ? extension_bits >= 1 && extension_bits <= 7
                                       : extension_bits == 0,
          "extension_bits", extension_bits);
  require(max_degree >= 1 && max_degree <= OffsetTable::kMostLength, "max_degree", max_degree);
  require(std::has_single_bit(page_bytes) && page_bytes >= kLeastPageBytes &&
              page_bytes <= kMostPageBytes,
          "page_bytes", page_bytes);
  require_fits(least_record_bytes());
}

void SlottedGeometry::require_fits(std::size_t record_bytes) const {
  const std::size_t needed = kHeaderBytes + kSlotBytes + record_bytes;
  if (needed <= page_bytes) return;
  if (needed > kMostPageBytes) {
    throw Error(
        "a record of {} bytes fits no page of up to {}: use --payload code with fewer --bits, or a "
        "smaller --degree",
        record_bytes, kMostPageBytes);
  }
  throw Error("a record of {} bytes does not fit pages of {}: use --page-bytes {}", record_bytes,
              page_bytes, std::bit_ceil(needed));
}

}  // namespace farvec::layout
