// choose_merge() chooses which segments are merged next, so that there are few of them, and few of
// their rows are out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farvec::collection {

struct SegmentSize {
  std::uint64_t rows = 0;
  std::uint64_t live = 0;
  std::uint64_t updated = 0;  ///< rows whose attributes are in DRAM until the segment is rewritten
};

struct MergePolicy {
  /// How many segments of about one size are merged: so every row is written once for each power of
  /// it that the collection is larger than a memtable.
  std::uint32_t fanout = 4;
  std::uint64_t memtable_rows = 0;
  /// A segment of which a larger share is out or updated is rewritten.
  double out_share = 0.3;
  /// The most live rows of segments that are merged together; 0: any number.
  std::uint64_t most_rows = 0;
};

/// Returns places in `segments`, ascending; none when there is nothing to do. Segments have the
/// same size when the same power of the fanout, in memtables, is the largest that they hold live
/// rows for. The smallest size is merged first: it costs least and occurs most often.
std::vector<std::size_t> choose_merge(const std::vector<SegmentSize>& segments,
                                      const MergePolicy& policy);

}  // namespace farvec::collection
