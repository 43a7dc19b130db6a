// These functions do the last steps of every segment, whatever it is made of. They are for
// segment_builder.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "collection/build/segment_builder.h"
#include "collection/memtable/memtable.h"
#include "collection/segment/segment.h"
#include "collection/state/view.h"
#include "dataset/vector_set.h"
#include "layout/index/index_writer.h"

namespace farvec::collection {

/// Writes the index into the recipe's folder. Throws Error.
using WriteIndex = std::function<void(const layout::WriteOptions&)>;

/// RowFacts are what a segment has of its rows beside the vectors, in the order of its rows. They
/// are borrowed.
struct RowFacts {
  std::span<const std::uint64_t> ids;
  layout::TupleView attributes;  ///< a tuple for each row; none where the schema has no columns
};

/// JoinedRows refer to the live rows of some segments, one segment after the other. They are
/// borrowed.
struct JoinedRows {
  std::span<const View::Bulk* const> segments;
  /// Which of these rows is each row of the new segment; empty: they stay in their order.
  std::span<const NodeId> order;
  const RowFacts& facts;
};

/// Writes the index and the facts of its rows, opens them, and brings them to memory nodes where
/// the collection's segments are there. Throws Error; then there is no folder.
std::shared_ptr<Segment> write_segment(const WriteIndex& write_index, const RowFacts& facts,
                                       const SegmentRecipe& recipe);

/// FrozenRows refer to a memtable that gets no more rows. It is borrowed.
struct FrozenRows {
  Memtable& memtable;
  const RowSet& out;
  std::span<const NodeId> rows;  ///< those that are not out, in the order of the segment's rows
  const RowFacts& facts;
};

/// Returns options for reading segments that are merged, which obey the watch.
layout::LoadOptions load_options(const SegmentRecipe& recipe);

/// Returns the live rows of some segments, one segment after the other. `read` returns all rows of
/// one.
dataset::VectorSet rows_of_all(std::span<const View::Bulk* const> segments,
                               const SegmentRecipe& recipe,
                               const std::function<dataset::VectorSet(const Segment&)>& read);

}  // namespace farvec::collection
