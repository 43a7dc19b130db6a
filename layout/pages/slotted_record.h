// A slotted record is one record of a slotted page: degree, neighbour list, payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/node_record.h"
#include "base/status.h"
#include "base/types.h"
#include "layout/pages/slotted_geometry.h"

namespace farvec::layout {

/// Returns the bytes of the record of a vertex with these neighbours (ascending).
std::uint32_t slotted_record_bytes(const SlottedGeometry& geometry, std::span<const NodeId> sorted);

/// Writes a record: `out` is slotted_record_bytes() long, `payload` geometry.payload_bytes.
void encode_slotted_record(const SlottedGeometry& geometry, std::span<const NodeId> sorted,
                           const std::byte* payload, std::span<std::byte> out);

/// Reads a record in a page, or in a buffer of its own. NodeRecord::vector is the payload, in place
/// and unaligned. The neighbours are decoded into `scratch`, at least geometry.scratch_ids() long,
/// and ascend. data_loss when length, degree and list contradict each other. Ids are not compared
/// with `count`: code that uses one as an index does that.
Result<NodeRecord> decode_slotted_record(const SlottedGeometry& geometry,
                                         std::span<const std::byte> record,
                                         std::span<NodeId> scratch);

/// Returns the payload in a record of this geometry: its last bytes. `record` is at least
/// geometry.least_record_bytes() long.
inline const std::byte* slotted_payload(const SlottedGeometry& geometry,
                                        std::span<const std::byte> record) {
  return record.data() + record.size() - geometry.payload_bytes;
}

}  // namespace farvec::layout
