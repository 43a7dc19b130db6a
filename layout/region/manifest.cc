#include "layout/region/manifest.h"

#include <xxhash.h>

#include <memory>

#include "base/check.h"
#include "base/error.h"

namespace farvec::layout {

std::string_view to_string(IndexKind kind) {
  return kind == IndexKind::graph ? "graph" : "cluster";
}

std::uint64_t fingerprint(const VectorView& source) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  FARVEC_CHECK(state != nullptr);
  XXH3_64bits_reset(state.get());
  const std::uint64_t count = source.count;
  const std::uint32_t shape[2] = {source.dimension, static_cast<std::uint32_t>(source.type)};
  XXH3_64bits_update(state.get(), &count, sizeof(count));
  XXH3_64bits_update(state.get(), shape, sizeof(shape));
  for (std::size_t row = 0; row < source.count; ++row) {
    XXH3_64bits_update(state.get(), source.row(row), source.row_bytes());
  }
  return XXH3_64bits_digest(state.get());
}

std::uint64_t RegionEntry::payload_checksum() const {
  return XXH3_64bits(checksums.data(), checksums.size() * sizeof(std::uint64_t));
}

RegionHeader RegionEntry::header() const {
  RegionHeader header;
  header.kind = kind;
  header.region = region_id(kind);
  header.payload_bytes = payload_bytes;
  header.chunk_bytes = chunk_bytes;
  header.payload_checksum = payload_checksum();
  return header;
}

std::array<std::uint64_t, kRegionCount> Manifest::region_bytes() const {
  std::array<std::uint64_t, kRegionCount> bytes{};
  for (std::uint32_t id = 0; id < kRegionCount; ++id) bytes[id] = region(id).file_bytes();
  return bytes;
}

std::uint64_t Manifest::node_bytes(std::uint32_t node) const {
  std::uint64_t sum = 0;
  for (std::uint32_t id = 0; id < kRegionCount; ++id) sum += node_bytes(node, id);
  return sum;
}

SlottedGeometry Manifest::slotted_geometry() const {
  return {.payload = slotted.payload,
          .extension_bits = slotted.extension_bits,
          .payload_bytes = slotted.payload_bytes,
          .page_bytes = block_bytes,
          .max_degree = max_degree,
          .pages = slotted.pages,
          .count = count};
}

void require_memory_layout(const Manifest& manifest, std::string_view source) {
  if (!manifest.is_slotted()) return;
  throw Error(
      "'{}': layout slotted is searched with --tier ssd, by `farvec search` or "
      "`farvec-compute-node --index DIR --tier ssd`; build csr or padded for memory",
      source);
}

GraphGeometry Manifest::geometry() const {
  return {.kind = layout,
          .record_checksum = record_checksum,
          .vector_bytes = static_cast<std::uint32_t>(dimension * element_bytes(stored_type)),
          .max_degree = max_degree,
          .block_bytes = block_bytes,
          .count = count};
}

}  // namespace farvec::layout
