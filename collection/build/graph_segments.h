// Segments that are graphs. For segment_builder.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "collection/build/segment_writer.h"
#include "indexing/source.h"

namespace farvec::collection {

/// A graph over all rows of the source, built from nothing. Throws as write_segment() does.
std::shared_ptr<Segment> build_graph_segment(indexing::Source source,
                                             std::span<const std::uint64_t> ids,
                                             const SegmentRecipe& recipe);

/// The same of the rows of a memtable that are not out, which are the source's: what is left of it
/// is linked, and its own graph is the segment's, pruned as graph::merge_vamana() does.
std::shared_ptr<Segment> adopt_memtable(indexing::Source source, const FrozenRows& frozen,
                                        const SegmentRecipe& recipe);

/// The first of the segments without its rows that are out, and with the live ones of the others
/// inserted.
std::shared_ptr<Segment> merge_graph_segments(std::span<const View::Bulk* const> segments,
                                              std::span<const std::uint64_t> ids,
                                              const SegmentRecipe& recipe);

}  // namespace farvec::collection
