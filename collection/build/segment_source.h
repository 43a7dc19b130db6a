// A SegmentSource holds what the index of a segment is built of: whole rows, or vectors of fewer
// bits, whose whole rows are its second copy.
#pragma once

#include <filesystem>
#include <optional>

#include "collection/build/segment_writer.h"
#include "collection/segment/segment.h"
#include "indexing/reduced_source.h"
#include "indexing/source.h"
#include "layout/index/index_writer.h"

namespace farvec::collection {

class SegmentSource {
 public:
  /// `whole` has rows as the collection keeps them, which are borrowed and must outlive this.
  SegmentSource(indexing::Source whole, const SegmentRecipe& recipe);

  /// Returns what the index is built of. Its rows live as long as this.
  indexing::Source source() const { return reduced_ ? reduced_->source() : whole_; }

  /// Says how the vectors were reduced; to be called where they were.
  const layout::SecondCopyFacts& second_facts() const { return reduced_->facts(); }

  /// Writes the second copy, where there is one, into the folder of the index that was written.
  void write_second(const std::filesystem::path& folder, const layout::Manifest& written,
                    const layout::WriteOptions& options) const;

 private:
  const indexing::Source whole_;
  std::optional<indexing::ReducedSource> reduced_;
};

/// Owns the whole rows of segments that are merged, and what their index is built of.
class JoinedSource {
 public:
  /// Reads the second copies of the segments. Throws Error naming a row that is damaged.
  JoinedSource(const JoinedRows& joined, const SegmentRecipe& recipe);

  const SegmentSource& source() const { return *source_; }
  /// Gives the rows their places in the new segment, and reduces them anew. To be called when no
  /// reference to the source is used any more.
  void reorder(std::span<const NodeId> order);

 private:
  void describe();

  const SegmentRecipe& recipe_;
  dataset::VectorSet rows_;
  std::optional<SegmentSource> source_;
};

}  // namespace farvec::collection
