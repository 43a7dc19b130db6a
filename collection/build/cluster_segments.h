// These functions make segments that are clusters. They are for segment_builder.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "collection/build/segment_writer.h"
#include "indexing/source.h"

namespace farvec::collection {

/// Builds clusters of all rows of the source from nothing. Throws what write_segment() throws.
std::shared_ptr<Segment> build_cluster_segment(indexing::Source source,
                                               std::span<const std::uint64_t> ids,
                                               const SegmentRecipe& recipe);

/// Makes a segment from the clusters of the first of the segments, without its rows that are out,
/// and with the live rows of the others (cluster::merge_clusters()).
std::shared_ptr<Segment> merge_cluster_segments(std::span<const View::Bulk* const> segments,
                                                std::span<const std::uint64_t> ids,
                                                const SegmentRecipe& recipe);

}  // namespace farvec::collection
