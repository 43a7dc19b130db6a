// These functions open segments that memory nodes hold, for processes that do not see their folder.
#pragma once

#include <memory>

#include "collection/segment/segment.h"
#include "collection/segment/segment_access.h"
#include "layout/collection/catalogue.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::collection {

/// A WantedSegment is what a catalogue says of a segment. It is borrowed.
struct WantedSegment {
  const layout::SegmentEntry& entry;
  const layout::CatalogueSegment& contents;
  const layout::Schema& schema;  ///< the manifest's
};

/// Reads ids, attributes and manifest from the memory nodes of `access` alone: another copy is read
/// where one is damaged. `on_bytes` is called with the number of bytes that come; an exception from
/// it ends the reading. Throws UnreachableError saying of each node why it cannot be read.
std::shared_ptr<Segment> fetch_segment(const WantedSegment& wanted, const SegmentAccess& access,
                                       const Segment::OnChunk& on_bytes);

}  // namespace farvec::collection
