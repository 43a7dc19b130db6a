#include "collection/segment/checked_records.h"

#include <algorithm>

#include "collection/segment/opened_rows.h"
#include "layout/region/region_bytes.h"

namespace farvec::collection {

CheckedRecords::CheckedRecords(const layout::IndexDirectory& directory, std::uint32_t region)
    : entry_(directory.manifest().region(region)),
      file_(directory.region_path(region).string()),
      checked_(entry_.checksums.size()) {}

std::uint64_t CheckedRecords::bytes_of_chunk(std::uint64_t chunk) const {
  return std::min(entry_.chunk_bytes, entry_.payload_bytes - chunk * entry_.chunk_bytes);
}

/// Reads a chunk and compares it with its checksum.
void CheckedRecords::check(std::uint64_t chunk, std::span<std::byte> bytes) const {
  file_.read_at(layout::kRegionHeaderBytes + chunk * entry_.chunk_bytes, bytes.data(),
                bytes.size());
  layout::check_chunk(entry_, chunk, bytes, file_.path());
  checked_[chunk].store(true, std::memory_order_relaxed);
}

Status CheckedRecords::load(Loading& loading, Ticks deadline) const {
  if (loading.region.size() == 0) {
    loading.region = HugeBuffer(entry_.file_bytes());
    file_.read_at(0, loading.region.data(), layout::kRegionHeaderBytes);
  }
  for (; loading.chunks < entry_.checksums.size(); ++loading.chunks) {
    if (now_ticks() >= deadline) return rows_are_too_late();
    const std::uint64_t at = layout::kRegionHeaderBytes + loading.chunks * entry_.chunk_bytes;
    check(loading.chunks, loading.region.span().subspan(at, bytes_of_chunk(loading.chunks)));
  }
  return {};
}

Status CheckedRecords::read(std::uint64_t offset, std::span<std::byte> out, Ticks deadline) const {
  const std::uint64_t begin = offset - layout::kRegionHeaderBytes;
  const std::uint64_t last = begin + out.size() - 1;
  for (std::uint64_t c = begin / entry_.chunk_bytes; c <= last / entry_.chunk_bytes; ++c) {
    if (checked_.at(c).load(std::memory_order_relaxed)) continue;
    if (now_ticks() >= deadline) return rows_are_too_late();
    std::vector<std::byte> chunk(bytes_of_chunk(c));
    check(c, chunk);
  }
  file_.read_at(offset, out.data(), out.size());
  return {};
}

}  // namespace farvec::collection
