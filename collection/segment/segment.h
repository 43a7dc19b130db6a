// A Segment is an immutable part of a collection: the ids of its rows, its records on a tier, and
// the owner of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/types.h"
#include "collection/segment/row_ids.h"
#include "collection/segment/segment_access.h"
#include "collection/segment/segment_bytes.h"
#include "collection/segment/segment_records.h"
#include "layout/index/manifest.h"

namespace farvec::collection {

/// Threads share it. Its files stay when it ends: the collection's state deletes them, once no
/// manifest names it and nothing holds it (ReplacedSegments).
class Segment {
 public:
  using OnChunk = SegmentRecords::OnChunk;

  /// Is for open_segment() and fetch_segment(). There are as many ids as the index has rows.
  Segment(std::uint64_t number, RowIds ids, std::unique_ptr<const SegmentBytes> bytes,
          const SegmentAccess& access);

  std::uint64_t number() const { return number_; }
  std::uint32_t rows() const { return ids_.rows(); }
  const RowIds& ids() const { return ids_; }
  const SegmentRecords& records() const { return records_; }
  const layout::Manifest& manifest() const { return bytes_->manifest(); }
  /// Returns the folder that has the bytes, for a segment that was opened there.
  const SegmentFolder& folder() const;

  /// Returns the bytes of ids and their order, which a writer needs.
  std::size_t dram_bytes() const { return ids_.dram_bytes(); }
  /// Returns the bytes of all its files, or of what memory nodes hold of it.
  std::uint64_t file_bytes() const { return bytes_->count(); }

 private:
  const std::uint64_t number_;
  const RowIds ids_;
  const std::unique_ptr<const SegmentBytes> bytes_;
  const SegmentRecords records_;  ///< borrows the bytes
};

}  // namespace farvec::collection
