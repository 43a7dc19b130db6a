// How tests of the engine open collections.
#pragma once

#include "collection/segment/segment_access.h"
#include "collection/write/collection_access.h"
#include "postgres/channel/requests.h"

namespace farvec::postgres {

/// Segments are in memory, and the log takes little of the disk.
inline collection::CollectionAccess access_of_tests() {
  collection::CollectionAccess access;
  access.segments = collection::SegmentAccess::on("dram");
  access.log_segment_bytes = 1 << 20;
  return access;
}

/// A request for an index of four dimensions.
inline AskOpen small_index(AskBegins begins = kAskKeeps) {
  AskOpen asked{};
  asked.index = {.number = 7, .tablespace = 1, .database = 2, .file = 3, .zero = 0};
  asked.dimension = 4;
  asked.degree = 8;
  asked.build_list = 16;
  asked.begins = begins;
  return asked;
}

}  // namespace farvec::postgres
