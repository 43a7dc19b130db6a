// These functions make segments that are graphs. They are for segment_builder.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "collection/build/segment_writer.h"
#include "indexing/source.h"

namespace farvec::collection {

/// Builds a graph over all rows of the source from nothing. Throws what write_segment() throws.
std::shared_ptr<Segment> build_graph_segment(indexing::Source source,
                                             std::span<const std::uint64_t> ids,
                                             const SegmentRecipe& recipe);

/// Makes a segment of the rows of a memtable that are not out; these are the source's rows. It
/// links the rows that are not linked yet. The memtable's own graph becomes the segment's, pruned
/// by graph::merge_vamana().
std::shared_ptr<Segment> adopt_memtable(indexing::Source source, const FrozenRows& frozen,
                                        const SegmentRecipe& recipe);

/// Makes a segment from the graph of the first of the segments, without its rows that are out, and
/// with the live rows of the others inserted.
std::shared_ptr<Segment> merge_graph_segments(std::span<const View::Bulk* const> segments,
                                              std::span<const std::uint64_t> ids,
                                              const SegmentRecipe& recipe);

}  // namespace farvec::collection
