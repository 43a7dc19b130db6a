// A GraphLocator says where a vertex's record is in the graph's region, and reads it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/node_record.h"
#include "base/status.h"
#include "base/types.h"
#include "layout/graph/neighbor_list.h"
#include "layout/graph/offset_table.h"
#include "layout/region/region_bytes.h"

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

struct Extent {
  std::uint64_t offset = 0;  ///< counts from the start of the region
  std::uint32_t bytes = 0;
  std::uint32_t degree = 0;  ///< csr: exact; else max_degree, and the record itself has the degree
};

/// Returns the low 32 bits of XXH3-64 over the bytes, seeded with the id: a record fetched from
/// another vertex's place does not pass.
std::uint32_t record_checksum(std::span<const std::byte> bytes, NodeId id);

/// Finds and reads records. Immutable, shared by all threads of a process.
class GraphLocator {
 public:
  /// csr and packed need the table of the geometry's `count` vertices; the other layouts compute
  /// addresses and need none. Throws Error when geometry or table do not fit.
  explicit GraphLocator(GraphGeometry geometry, OffsetTable table = {});

  const GraphGeometry& geometry() const { return geometry_; }
  const OffsetTable& table() const { return table_; }
  /// Returns the bytes of header and payload; every extent is below it.
  std::uint64_t region_bytes() const { return begin_of(geometry_.count); }
  /// Returns the bytes that the locator itself keeps in DRAM.
  std::size_t dram_bytes() const { return table_.bytes().size(); }

  /// Needs id < count, which is not checked.
  Extent locate(NodeId id) const {
    if (needs_offset_table(geometry_.kind)) {
      const OffsetTable::Run run = table_.find(id);
      return {table_offset(id, run.first), fixed_bytes_ + run.length * table_unit_,
              geometry_.kind == LayoutKind::csr ? run.length : geometry_.max_degree};
    }
    return {slot_offset(id), slot_bytes_, geometry_.max_degree};
  }

  /// Brings the memory that locate(id) reads towards the core.
  void prefetch(NodeId id) const {
    if (needs_offset_table(geometry_.kind)) table_.prefetch(id);
  }

  /// Reads the record that was fetched from `extent` in place. data_loss when the length is not the
  /// extent's, the degree is above max_degree, the list has another length, the row does not exist,
  /// or the checksum does not match. Neighbour ids are not compared with `count`: code that uses
  /// one as an index does that. `scratch` has room for geometry().scratch_ids(); a packed record's
  /// neighbours are decoded into it.
  Result<NodeRecord> parse(NodeId id, const Extent& extent, std::span<const std::byte> bytes,
                           std::span<NodeId> scratch) const {
    if (bytes.size() != extent.bytes) [[unlikely]] {
      return Status(StatusCode::data_loss, "a record came back shorter than it is");
    }
    if (geometry_.kind == LayoutKind::packed) return parse_packed(id, bytes, scratch);
    const std::byte* const vector = bytes.data() + geometry_.code_bytes;
    NodeRecord record{vector, vector + geometry_.vector_bytes, extent.degree};
    if (geometry_.kind == LayoutKind::padded) {
      record.degree = load_unaligned<std::uint32_t>(record.neighbors);
      record.neighbors += sizeof(std::uint32_t);
      if (record.degree > geometry_.max_degree) [[unlikely]] {
        return Status(StatusCode::data_loss, "a record claims more neighbours than the graph has");
      }
    }
    if (geometry_.kind == LayoutKind::inlined) {
      record.codes = bytes.data();
      while (record.degree > 0 && record.neighbor(record.degree - 1) == kInvalidNode) {
        --record.degree;
      }
    }
    if (geometry_.record_checksum && !checksum_matches(id, bytes)) [[unlikely]] {
      return Status(StatusCode::data_loss, "a record does not match its checksum");
    }
    return record;
  }

  /// Returns the offset at which the bytes of vertices `begin` and up start; begin_of(count) is the
  /// end of the region.
  std::uint64_t begin_of(std::size_t begin) const;

 private:
  std::uint64_t table_offset(std::uint64_t id, std::uint64_t units_before) const {
    return kRegionHeaderBytes + id * fixed_bytes_ + units_before * table_unit_;
  }
  Result<NodeRecord> parse_packed(NodeId id, std::span<const std::byte> bytes,
                                  std::span<NodeId> scratch) const;
  std::uint64_t slot_offset(std::uint64_t id) const {
    if (geometry_.kind == LayoutKind::inlined) return kRegionHeaderBytes + id * slot_bytes_;
    const std::uint64_t group = id / nodes_per_group_;
    return kRegionHeaderBytes + group * group_bytes_ +
           (id - group * nodes_per_group_) * slot_bytes_;
  }
  bool checksum_matches(NodeId id, std::span<const std::byte> bytes) const;

  GraphGeometry geometry_;
  OffsetTable table_;
  std::uint32_t fixed_bytes_ = 0;
  std::uint32_t table_unit_ = 0;
  // Padded: a group is the smallest run of whole blocks that holds whole nodes, which is one block
  // with several nodes or one node over several blocks. Inlined: a group is a slot.
  std::uint32_t slot_bytes_ = 0;
  std::uint32_t nodes_per_group_ = 1;
  std::uint32_t group_bytes_ = 0;
};

/// Returns the bytes of the region with this geometry, header included, computed without building
/// anything. `units` is the total of the offset table: edges, or in the packed layout bytes of
/// degrees and lists.
std::uint64_t region_bytes(const GraphGeometry& geometry, std::uint64_t units);

}  // namespace farvec::layout
