#include "collection/segment_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/error.h"
#include "layout/graph/record_reader.h"
#include "layout/region/region_bytes.h"

namespace farvec::collection {

SegmentRows::SegmentRows(const layout::IndexDirectory& directory)
    : entry_(directory.manifest().region(layout::kRecordsRegion)),
      locator_(directory.load_locator({.threads = 1, .quiet = true})),
      file_(directory.region_path(layout::kRecordsRegion).string()),
      checked_(entry_.checksums.size()) {
  if (locator_.geometry().kind == layout::LayoutKind::packed) learn_vertices(directory);
}

void SegmentRows::learn_vertices(const layout::IndexDirectory& directory) {
  const HugeBuffer region =
      directory.load_region(layout::kRecordsRegion, {.threads = 1, .quiet = true});
  layout::RecordReader records(locator_, region.span());
  const std::size_t count = locator_.geometry().count;
  vertex_of_.assign(count, kInvalidNode);
  for (NodeId vertex = 0; vertex < count; ++vertex) {
    vertex_of_[records.read(vertex).row] = vertex;
  }
  const auto missing = std::find(vertex_of_.begin(), vertex_of_.end(), kInvalidNode);
  if (missing == vertex_of_.end()) return;
  throw Error("'{}' has no vertex of row {}: it is damaged", file_.path(),
              missing - vertex_of_.begin());
}

void SegmentRows::check_chunks_of(const layout::Extent& extent) const {
  const std::uint64_t begin = extent.offset - layout::kRegionHeaderBytes;
  const std::uint64_t last = begin + extent.bytes - 1;
  for (std::uint64_t c = begin / entry_.chunk_bytes; c <= last / entry_.chunk_bytes; ++c) {
    if (checked_.at(c).load(std::memory_order_relaxed)) continue;
    const std::uint64_t at = c * entry_.chunk_bytes;
    std::vector<std::byte> chunk(std::min(entry_.chunk_bytes, entry_.payload_bytes - at));
    file_.read_at(layout::kRegionHeaderBytes + at, chunk.data(), chunk.size());
    layout::check_chunk(entry_, c, chunk, file_.path());
    checked_[c].store(true, std::memory_order_relaxed);
  }
}

void SegmentRows::read(NodeId row, std::span<std::byte> out) const {
  const NodeId vertex = vertex_of_.empty() ? row : vertex_of_.at(row);
  const layout::Extent extent = locator_.locate(vertex);
  FARVEC_CHECK(row < locator_.geometry().count && out.size() == locator_.geometry().vector_bytes);
  check_chunks_of(extent);
  std::vector<std::byte> bytes(extent.bytes);
  file_.read_at(extent.offset, bytes.data(), bytes.size());
  std::vector<NodeId> scratch(locator_.geometry().scratch_ids());
  const Result<NodeRecord> record = locator_.parse(vertex, extent, bytes, scratch);
  if (!record.ok()) {
    throw Error("'{}', vertex {}: {}", file_.path(), vertex, record.status().message());
  }
  std::memcpy(out.data(), record.value().vector, out.size());
}

}  // namespace farvec::collection
