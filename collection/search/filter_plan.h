// These functions decide how a segment is searched among rows that meet a condition. They are for
// search_legs.cc.
#pragma once

#include <cstdint>

#include "collection/segment/segment.h"
#include "search/index/search_index.h"

namespace farvec::collection {

/// Says whether rows of the segment can be read by their numbers. They cannot in packed records,
/// which alone say which row they have, where the segment has no attributes; and in clusters, whose
/// searches are told which clusters have the rows.
bool can_scan(const Segment& segment, const search::SearchIndex& index);

/// Returns up to how many of a segment's rows are compared with a query one by one. A search of the
/// graph with `list` that wants m of n rows reads the records of about list * n / m of them, since
/// it passes those that it does not want. Comparing m rows reads m records, or estimates from codes
/// in DRAM what is near, of which a record that is read brings as many as a vertex has neighbours.
/// Estimates are few enough up to 8,192 rows, however large the segment.
/// 0 where rows cannot be read by their numbers.
std::uint64_t most_scanned(const Segment& segment, const search::SearchIndex& index,
                           std::uint32_t list);

}  // namespace farvec::collection
