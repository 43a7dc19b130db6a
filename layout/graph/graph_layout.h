// A GraphLocator says where a vertex's record is in the graph's region, and reads it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/node_record.h"
#include "base/status.h"
#include "base/types.h"
#include "layout/graph/graph_geometry.h"
#include "layout/graph/neighbor_list.h"
#include "layout/graph/offset_table.h"
#include "layout/region/region_bytes.h"

namespace farvec::layout {

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

  /// Says whether the neighbours of a vertex can be read without its vector. They cannot where both
  /// share a checksum, or where records have fixed places: one read brings both there.
  bool has_lists_alone() const {
    return needs_offset_table(geometry_.kind) && !geometry_.record_checksum;
  }
  /// Needs id < count, which is not checked. Returns the extent of the vertex's neighbours alone;
  /// or of its record where !has_lists_alone(), or where it has no neighbours in the csr layout,
  /// because no read is empty.
  Extent locate_list(NodeId id) const {
    Extent extent = locate(id);
    if (!has_lists_alone() || extent.bytes == fixed_bytes_) return extent;
    if (geometry_.kind == LayoutKind::csr) extent.offset += geometry_.vector_bytes;
    extent.bytes -= fixed_bytes_;
    return extent;
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

  /// Reads what was fetched from locate_list(), as parse() reads a record. Where that has no
  /// vector, the record's is null, and its row is not known.
  Result<NodeRecord> parse_list(NodeId id, const Extent& extent, std::span<const std::byte> bytes,
                                std::span<NodeId> scratch) const;

  /// Returns the offset at which the bytes of vertices `begin` and up start; begin_of(count) is the
  /// end of the region.
  std::uint64_t begin_of(std::size_t begin) const;

 private:
  std::uint64_t table_offset(std::uint64_t id, std::uint64_t units_before) const {
    return kRegionHeaderBytes + id * fixed_bytes_ + units_before * table_unit_;
  }
  Result<NodeRecord> parse_packed(NodeId id, std::span<const std::byte> bytes,
                                  std::span<NodeId> scratch) const;
  Result<NodeRecord> parse_packed_list(std::span<const std::byte> bytes, std::uint32_t list_bytes,
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
