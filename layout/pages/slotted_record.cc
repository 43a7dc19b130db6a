#include "layout/pages/slotted_record.h"

#include <cstring>

#include "base/check.h"
#include "layout/graph/neighbor_list.h"

namespace farvec::layout {

std::uint32_t slotted_record_bytes(const SlottedGeometry& geometry,
                                   std::span<const NodeId> sorted) {
  return geometry.least_record_bytes() + list_bytes(sorted);
}

void encode_slotted_record(const SlottedGeometry& geometry, std::span<const NodeId> sorted,
                           const std::byte* payload, std::span<std::byte> out) {
  FARVEC_CHECK(sorted.size() <= geometry.max_degree, "{} neighbours", sorted.size());
  const auto degree = static_cast<std::uint16_t>(sorted.size());
  std::memcpy(out.data(), &degree, geometry.degree_bytes());
  encode_list(sorted, out.data() + geometry.degree_bytes());
  // The payload comes last, so that a decoder of the list may read beyond its end.
  std::memcpy(out.data() + out.size() - geometry.payload_bytes, payload, geometry.payload_bytes);
}

Result<NodeRecord> decode_slotted_record(const SlottedGeometry& geometry,
                                         std::span<const std::byte> record,
                                         std::span<NodeId> scratch) {
  FARVEC_CHECK(scratch.size() >= geometry.scratch_ids(), "room for {} ids", scratch.size());
  const std::size_t least = geometry.least_record_bytes();
  if (record.size() < least) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record is shorter than its payload");
  }
  std::uint16_t degree = 0;
  std::memcpy(&degree, record.data(), geometry.degree_bytes());
  if (degree > geometry.max_degree) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record claims more neighbours than the graph has");
  }
  const std::size_t before = geometry.degree_bytes();
  const EncodedList list{record.data() + before, static_cast<std::uint32_t>(record.size() - least),
                         static_cast<std::uint32_t>(record.size() - before), degree};
  if (!decode_list(list, scratch.data())) [[unlikely]] {
    return Status(StatusCode::data_loss, "a record's neighbours are not as long as it says");
  }
  return NodeRecord{slotted_payload(geometry, record),
                    reinterpret_cast<const std::byte*>(scratch.data()), degree};
}

}  // namespace farvec::layout
