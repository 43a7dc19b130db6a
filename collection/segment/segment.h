// A Segment is an immutable part of a collection: the ids and attributes of its rows, its records
// on a tier, and the owner of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "base/types.h"
#include "collection/segment/row_ids.h"
#include "collection/segment/segment_access.h"
#include "collection/segment/segment_bytes.h"
#include "collection/segment/segment_records.h"
#include "layout/index/manifest.h"
#include "search/index/row_attributes.h"

namespace farvec::collection {

/// SegmentFacts are what a segment has of its rows in DRAM, beside their vectors.
struct SegmentFacts {
  RowIds ids;
  search::RowAttributes attributes;
};

/// Threads share it. Its files stay when it ends: the collection's state deletes them, once no
/// manifest names it and nothing holds it (ReplacedSegments).
class Segment {
 public:
  using OnChunk = SegmentRecords::OnChunk;

  /// Is for open_segment() and fetch_segment(). There are as many ids as the index has rows.
  Segment(std::uint64_t number, SegmentFacts facts, std::unique_ptr<const SegmentBytes> bytes,
          const SegmentAccess& access);

  std::uint64_t number() const { return number_; }
  std::uint32_t rows() const { return facts_.ids.rows(); }
  const RowIds& ids() const { return facts_.ids; }
  const search::RowAttributes& attributes() const { return facts_.attributes; }
  const SegmentRecords& records() const { return records_; }
  const layout::Manifest& manifest() const { return bytes_->manifest(); }
  /// Reads a row in stored form, from memory where this process has the records there, and else as
  /// SegmentRows::read() does. It is for a segment that was opened in a folder.
  Status read_row(NodeId row, std::span<std::byte> out, Ticks deadline) const;

  /// Returns the folder that has the bytes, for a segment that was opened there.
  const SegmentFolder& folder() const;

  /// Returns the bytes of ids and their order, which a writer needs, of attributes, and of where
  /// rows are.
  std::size_t dram_bytes() const {
    return facts_.ids.dram_bytes() + facts_.attributes.dram_bytes() + records_.row_bytes();
  }
  /// Returns the bytes of all its files, or of what memory nodes hold of it.
  std::uint64_t file_bytes() const { return bytes_->count(); }
  /// Returns the bytes of its files that a process has in memory which searches it: all but those
  /// that its tier reads from a disk, and but where the records of slotted pages are, which is part
  /// of their pool.
  std::uint64_t loaded_bytes() const;

 private:
  const std::uint64_t number_;
  const SegmentFacts facts_;
  const std::unique_ptr<const SegmentBytes> bytes_;
  const SegmentRecords records_;  ///< borrows the bytes
};

}  // namespace farvec::collection
