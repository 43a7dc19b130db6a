// copy_segment() makes a segment of an index that stands by itself.
#pragma once

#include <cstdint>
#include <memory>

#include "collection/build/segment_builder.h"
#include "collection/segment/segment.h"
#include "layout/index/index_directory.h"

namespace farvec::collection {

/// Makes a segment of a copy of the index, whose row r gets the id first_id + r, and of its
/// attributes. Every byte that is read is checked. Throws Error naming the index and what is wrong:
/// it is damaged, it or the segments of the collection have second copies of their vectors, it has
/// another kind, layout, metric, type or dimension than the segments of the
/// collection, or its attributes have other columns than the first ones of the recipe's schema, or
/// an id would have more than 64 bits; then there is no folder. It behaves like build_segment()
/// otherwise.
std::shared_ptr<Segment> copy_segment(const layout::IndexDirectory& index, std::uint64_t first_id,
                                      const SegmentRecipe& recipe);

}  // namespace farvec::collection
