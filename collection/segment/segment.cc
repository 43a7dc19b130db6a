#include "collection/segment/segment.h"

#include <utility>

#include "base/check.h"

namespace farvec::collection {

Segment::Segment(std::uint64_t number, SegmentFacts facts,
                 std::unique_ptr<const SegmentBytes> bytes, const SegmentAccess& access)
    : number_(number),
      facts_(std::move(facts)),
      bytes_(std::move(bytes)),
      records_(number, *bytes_, access, facts_.attributes.has_tuples()) {}

const SegmentFolder& Segment::folder() const {
  const SegmentFolder* const folder = bytes_->folder();
  FARVEC_CHECK(folder != nullptr, "segment {} was opened on memory nodes", number_);
  return *folder;
}

}  // namespace farvec::collection
