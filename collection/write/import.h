// An Import is many rows that become a segment at once, without the log and the memtables.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "changes/receipt.h"
#include "collection/segment/segment.h"
#include "collection/write/writer.h"

namespace farvec::collection {

/// The caller that imports and the background share it; both hold the writer's lock.
class Import {
 public:
  explicit Import(std::shared_ptr<Segment> segment)
      : segment_(std::move(segment)), bytes_(segment_->file_bytes()) {}

  /// Says whether the rows are in the writer's contents.
  bool is_in() const { return segment_ == nullptr; }
  /// Brings the rows in, once. Rows with their ids go out; none of these may be in a memtable.
  void enter(Writer& writer);

  /// Returns the segment, whose rows are not in and will not be.
  std::shared_ptr<Segment> give_back() { return std::move(segment_); }
  /// Returns the bytes of the segment's files.
  std::uint64_t bytes() const { return bytes_; }
  const changes::Receipt& receipt() const { return receipt_; }

 private:
  std::shared_ptr<Segment> segment_;  ///< null: it is in
  const std::uint64_t bytes_;
  changes::Receipt receipt_;
};

}  // namespace farvec::collection
