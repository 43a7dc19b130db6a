// A SegmentMaker makes segments of one kind. This header and segment_maker.cc are where the kinds
// of segments stand.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "collection/build/segment_writer.h"
#include "indexing/source.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::collection {

/// Each function makes a segment of all rows that it is given, which have the facts, and throws
/// what write_segment() throws.
struct SegmentMaker {
  using Made = std::shared_ptr<Segment>;

  /// Builds it of all rows of the source from nothing.
  Made (*from_rows)(indexing::Source source, const RowFacts& facts, const SegmentRecipe& recipe);
  /// Makes it of the rows of a memtable that are not out; these are the source's rows, in the order
  /// of frozen.rows.
  Made (*from_memtable)(indexing::Source source, const FrozenRows& frozen,
                        const SegmentRecipe& recipe);
  /// Makes it from the structure of the first of the segments, without its rows that are out, and
  /// with the live rows of the others.
  Made (*from_segments)(const JoinedRows& joined, const SegmentRecipe& recipe);
};

/// Links the rows of a memtable that are not linked yet. The memtable's own graph becomes the
/// segment's, pruned by graph::merge_vamana(). Where most rows are not linked and rows are rounded,
/// the graph is built of the rows instead. Where segments are merged, the rows of the others are
/// inserted into the graph of the first.
extern const SegmentMaker kGraphMaker;
/// Builds the clusters of a memtable's rows from nothing, and merges by cluster::merge_clusters().
extern const SegmentMaker kClusterMaker;

/// Returns the maker of the segments of a collection.
const SegmentMaker& maker_of(const layout::CollectionOptions& options);

}  // namespace farvec::collection
