#include "collection/segment/segment.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "collection/segment/segment_folder.h"

namespace farvec::collection {

Segment::Segment(std::uint64_t number, SegmentFacts facts,
                 std::unique_ptr<const SegmentBytes> bytes, const SegmentAccess& access)
    : number_(number),
      facts_(std::move(facts)),
      bytes_(std::move(bytes)),
      records_(number, *bytes_, access, facts_.attributes.has_tuples()) {}

Status Segment::read_row(NodeId row, std::span<std::byte> out, Ticks deadline) const {
  return folder().rows().read(row, out, records_.in_memory(), deadline);
}

const SegmentFolder& Segment::folder() const {
  const SegmentFolder* const folder = bytes_->folder();
  FARVEC_CHECK(folder != nullptr, "segment {} was opened on memory nodes", number_);
  return *folder;
}

std::uint64_t Segment::loaded_bytes() const {
  const tiers::TierSpecPointer& second = records_.access().second_tier;
  const tiers::TierSpecPointer& tier = records_.access().tier;
  const bool on_disk = tier != nullptr && tier->traits().disk;
  const bool second_on_disk = second != nullptr ? second->traits().disk : on_disk;
  std::uint64_t elsewhere = second_on_disk ? manifest().second_copy_bytes() : 0;
  if (!on_disk) return file_bytes() - elsewhere;
  elsewhere += manifest().region(layout::kRecordsRegion).file_bytes();
  if (manifest().is_slotted()) {
    elsewhere += manifest().region(layout::kPagesRegion).file_bytes();
    if (manifest().slotted().rerank) {
      elsewhere += manifest().region(layout::kVectorsRegion).file_bytes();
    }
  }
  return file_bytes() - std::min(file_bytes(), elsewhere);
}

}  // namespace farvec::collection
