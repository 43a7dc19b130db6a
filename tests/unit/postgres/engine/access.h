// How tests of the engine open collections.
#pragma once

#include "collection/segment/segment_access.h"
#include "collection/write/collection_access.h"

namespace farvec::postgres {

/// Segments are in memory, and the log takes little of the disk.
inline collection::CollectionAccess access_of_tests() {
  collection::CollectionAccess access;
  access.segments = collection::SegmentAccess::on("dram");
  access.log_segment_bytes = 1 << 20;
  return access;
}

}  // namespace farvec::postgres
