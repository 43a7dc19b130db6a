#include "layout/graph/graph_layout.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace farvec::layout {
namespace {

struct SlotShape {
  std::uint32_t slot_bytes;
  std::uint32_t nodes_per_group;
  std::uint32_t group_bytes;
};

/// The shape in every layout whose records have the same length.
SlotShape slot_shape(const GraphGeometry& geometry) {
  const auto ids_bytes = geometry.max_degree * static_cast<std::uint32_t>(sizeof(NodeId));
  const std::uint32_t fixed_bytes = geometry.vector_bytes + ids_bytes + geometry.checksum_bytes();
  if (geometry.kind == LayoutKind::inlined) {
    const auto slot_bytes =
        static_cast<std::uint32_t>(round_up(geometry.code_bytes + fixed_bytes, kCacheLineBytes));
    return {slot_bytes, 1, slot_bytes};
  }
  const auto slot_bytes = fixed_bytes + static_cast<std::uint32_t>(sizeof(std::uint32_t));
  return {slot_bytes, std::max(1u, geometry.block_bytes / slot_bytes),
          static_cast<std::uint32_t>(round_up(slot_bytes, geometry.block_bytes))};
}

}  // namespace

std::string_view to_string(LayoutKind kind) {
  switch (kind) {
    case LayoutKind::csr:
      return "csr";
    case LayoutKind::padded:
      return "padded";
    case LayoutKind::slotted:
      return "slotted";
    case LayoutKind::inlined:
      return "inline";
    case LayoutKind::packed:
      break;
  }
  return "packed";
}

LayoutKind parse_layout_kind(std::string_view text) {
  for (const LayoutKind kind : kGraphLayouts) {
    if (text == to_string(kind)) return kind;
  }
  throw Error("unknown layout '{}': use csr, packed, inline, padded or slotted", text);
}

std::uint32_t GraphGeometry::max_record_bytes() const {
  if (kind == LayoutKind::padded || kind == LayoutKind::inlined) {
    return slot_shape(*this).slot_bytes;
  }
  return fixed_bytes() + most_units() * table_unit();
}

void GraphGeometry::validate() const {
  const auto require = [](bool good, const char* field, std::uint64_t value) {
    if (!good) throw Error("a graph's {} cannot be {}", field, value);
  };
  if (kind == LayoutKind::slotted) throw Error("layout slotted is searched with --tier ssd");
  require(count >= 1 && count < kInvalidNode, "vertex count", count);
  require(vector_bytes >= 1 && vector_bytes <= kMaxVectorBytes, "vector_bytes", vector_bytes);
  require(max_degree >= 1 && max_degree <= largest_degree(kind), "max_degree", max_degree);
  require((code_bytes > 0) == (kind == LayoutKind::inlined) && code_bytes <= kMostCodeBytes,
          "bytes of codes in records", code_bytes);
  require(std::has_single_bit(block_bytes) && block_bytes >= 512 && block_bytes <= (1u << 20),
          "block_bytes", block_bytes);
}

std::uint32_t record_checksum(std::span<const std::byte> bytes, NodeId id) {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(bytes.data(), bytes.size(), id));
}

GraphLocator::GraphLocator(GraphGeometry geometry, OffsetTable table)
    : geometry_(geometry), table_(std::move(table)) {
  geometry_.validate();
  fixed_bytes_ = geometry_.fixed_bytes();
  table_unit_ = geometry_.table_unit();
  const SlotShape shape = slot_shape(geometry_);
  slot_bytes_ = shape.slot_bytes;
  nodes_per_group_ = shape.nodes_per_group;
  group_bytes_ = shape.group_bytes;
  if (needs_offset_table(geometry_.kind) && table_.count() != geometry_.count) {
    throw Error("an offset table of {} vertices does not belong to a graph of {}", table_.count(),
                geometry_.count);
  }
}

std::uint64_t GraphLocator::begin_of(std::size_t begin) const {
  if (needs_offset_table(geometry_.kind)) {
    const bool inside = begin < geometry_.count;
    return table_offset(begin,
                        inside ? table_.find(static_cast<NodeId>(begin)).first : table_.total());
  }
  if (begin < geometry_.count) return slot_offset(begin);
  return layout::region_bytes(geometry_, 0);
}

/// Reads degree and neighbours, which begin a packed record and have `list_bytes` of its bytes.
Result<NodeRecord> GraphLocator::parse_packed_list(std::span<const std::byte> bytes,
                                                   std::uint32_t list_bytes,
                                                   std::span<NodeId> scratch) const {
  FARVEC_CHECK(scratch.size() >= geometry_.scratch_ids(), "room for {} ids", scratch.size());
  const std::uint32_t degree_bytes = geometry_.degree_bytes();
  if (list_bytes < degree_bytes) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record is shorter than its vector");
  }
  NodeRecord record{.neighbors = reinterpret_cast<const std::byte*>(scratch.data())};
  std::memcpy(&record.degree, bytes.data(), degree_bytes);  // little-endian
  if (record.degree > geometry_.max_degree) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record claims more neighbours than the graph has");
  }
  const auto readable = static_cast<std::uint32_t>(bytes.size() - degree_bytes);
  if (!decode_list(
          {bytes.data() + degree_bytes, list_bytes - degree_bytes, readable, record.degree},
          scratch.data())) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record's neighbours are not as long as it says");
  }
  return record;
}

Result<NodeRecord> GraphLocator::parse_packed(NodeId id, std::span<const std::byte> bytes,
                                              std::span<NodeId> scratch) const {
  if (bytes.size() < fixed_bytes_) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record is shorter than its vector");
  }
  const auto list_bytes = static_cast<std::uint32_t>(bytes.size() - fixed_bytes_);
  Result<NodeRecord> record = parse_packed_list(bytes, list_bytes, scratch);
  if (!record.ok()) return record;
  const std::byte* const row = bytes.data() + list_bytes;
  record.value().row = load_unaligned<NodeId>(row);
  record.value().vector = row + sizeof(NodeId);
  if (record.value().row >= geometry_.count) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record is of a row that does not exist");
  }
  if (geometry_.record_checksum && !checksum_matches(id, bytes)) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record does not match its checksum");
  }
  return record;
}

Result<NodeRecord> GraphLocator::parse_list(NodeId id, const Extent& extent,
                                            std::span<const std::byte> bytes,
                                            std::span<NodeId> scratch) const {
  if (!has_lists_alone() || extent.degree == 0) return parse(id, extent, bytes, scratch);
  if (bytes.size() != extent.bytes) [[unlikely]] {
    return Status(StatusCode::data_loss, "a vertex's neighbours came back shorter than they are");
  }
  if (geometry_.kind == LayoutKind::packed) return parse_packed_list(bytes, extent.bytes, scratch);
  return NodeRecord{.neighbors = bytes.data(), .degree = extent.degree};
}

bool GraphLocator::checksum_matches(NodeId id, std::span<const std::byte> bytes) const {
  const std::size_t covered = bytes.size() - sizeof(std::uint32_t);
  return load_unaligned<std::uint32_t>(bytes.data() + covered) ==
         layout::record_checksum(bytes.first(covered), id);
}

std::uint64_t region_bytes(const GraphGeometry& geometry, std::uint64_t units) {
  if (needs_offset_table(geometry.kind)) {
    return kRegionHeaderBytes + units * geometry.table_unit() +
           geometry.count * std::uint64_t{geometry.fixed_bytes()};
  }
  const SlotShape shape = slot_shape(geometry);
  return kRegionHeaderBytes + round_up(geometry.count, shape.nodes_per_group) /
                                  shape.nodes_per_group * shape.group_bytes;
}

}  // namespace farvec::layout
