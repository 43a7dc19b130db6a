// Segments that are clusters. For segment_builder.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "collection/build/segment_writer.h"
#include "indexing/source.h"

namespace farvec::collection {

/// Clusters of all rows of the source, built from nothing. Throws as write_segment() does.
std::shared_ptr<Segment> build_cluster_segment(indexing::Source source,
                                               std::span<const std::uint64_t> ids,
                                               const SegmentRecipe& recipe);

/// The clusters of the first of the segments without its rows that are out, and with the live ones
/// of the others (cluster::merge_clusters()).
std::shared_ptr<Segment> merge_cluster_segments(std::span<const View::Bulk* const> segments,
                                                std::span<const std::uint64_t> ids,
                                                const SegmentRecipe& recipe);

}  // namespace farvec::collection
