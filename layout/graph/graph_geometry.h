// This file names the layouts of a graph, and has what fixes the shape of a record in each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/types.h"
#include "layout/graph/neighbor_list.h"
#include "layout/graph/offset_table.h"

namespace farvec::layout {

/// csr: vector, neighbour ids; nothing between records, which may cross any boundary.
/// padded: the layout of DiskANN. Vector, u32 degree, room for max_degree ids; as many whole nodes
/// as fit a block, or several blocks for one node.
/// slotted: for SSDs, see pages/slotted_page.h; nothing else in this file reads it.
/// inlined: codes of the neighbours, vector, room for max_degree ids, where unused ones are
/// kInvalidNode; whole cache lines per record, so that a hop reads only neighbouring lines.
/// packed: degree, neighbour list (neighbor_list.h), row in the data set, vector; nothing between
/// records. Its vertices are numbered in an order that makes their lists short.
enum class LayoutKind : std::uint8_t { csr = 0, padded = 1, slotted = 2, inlined = 3, packed = 4 };

inline constexpr LayoutKind kGraphLayouts[] = {LayoutKind::csr, LayoutKind::padded,
                                               LayoutKind::slotted, LayoutKind::inlined,
                                               LayoutKind::packed};

/// Says whether records are where a table of offsets says, which a compute node keeps.
constexpr bool needs_offset_table(LayoutKind kind) {
  return kind == LayoutKind::csr || kind == LayoutKind::packed;
}

/// Returns the most neighbours that a vertex may have. The offset table limits it, where degrees or
/// the bytes of lists are counted there.
constexpr std::uint32_t largest_degree(LayoutKind kind) {
  // A list takes at most 17 bytes for 4 ids, and the degree before it 2.
  return kind == LayoutKind::packed ? (OffsetTable::kMostLength - 2) * 4 / 17
                                    : OffsetTable::kMostLength;
}

/// Returns "csr", "padded", "slotted", "inline", "packed".
std::string_view to_string(LayoutKind kind);
/// Throws Error naming the accepted words.
LayoutKind parse_layout_kind(std::string_view text);

/// A GraphGeometry is all that fixes the shape of a record.
struct GraphGeometry {
  LayoutKind kind = LayoutKind::csr;
  /// A record ends with 4 bytes of checksum over its bytes and its id.
  bool record_checksum = false;
  std::uint32_t vector_bytes = 0;
  std::uint32_t max_degree = 0;
  std::uint32_t block_bytes = 4096;  ///< in the padded layout
  std::uint32_t code_bytes = 0;  ///< inlined: bytes of the codes of max_degree neighbours; else 0
  std::size_t count = 0;

  std::uint32_t checksum_bytes() const { return record_checksum ? 4 : 0; }
  /// Returns the bytes of the parts that every record has, for a record whose address a table
  /// gives.
  std::uint32_t fixed_bytes() const {
    const auto row_bytes = kind == LayoutKind::packed ? sizeof(NodeId) : 0;
    return vector_bytes + static_cast<std::uint32_t>(row_bytes) + checksum_bytes();
  }
  /// Returns the bytes of the number of neighbours at the beginning of a packed record.
  std::uint32_t degree_bytes() const { return max_degree < 256 ? 1 : 2; }
  /// Returns the unit that the table of offsets counts: ids of 4 bytes, or bytes of degrees and
  /// lists.
  std::uint32_t table_unit() const {
    return kind == LayoutKind::packed ? 1 : static_cast<std::uint32_t>(sizeof(NodeId));
  }
  /// Returns the most units that a vertex has.
  std::uint32_t most_units() const {
    return kind == LayoutKind::packed ? degree_bytes() + max_list_bytes(max_degree) : max_degree;
  }
  /// Returns the number of neighbour ids that GraphLocator::parse() needs room for in one record.
  std::uint32_t scratch_ids() const {
    return kind == LayoutKind::packed ? (max_degree + 3) / 4 * 4 : 0;
  }
  static constexpr std::uint32_t kMostCodeBytes = 1u << 24;
  /// Returns the bytes of the longest record, which a reader's buffer must hold.
  std::uint32_t max_record_bytes() const;
  /// Throws Error saying which field is out of range, or that no locator reads slotted pages.
  void validate() const;
};

}  // namespace farvec::layout
