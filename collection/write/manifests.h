// Manifests make the segments of an open collection durable: each one names the segments that there
// are, and where the log is replayed from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "collection/segment/segment.h"
#include "collection/state/collection_files.h"
#include "collection/state/contents.h"
#include "collection/state/replaced_segments.h"
#include "collection/state/view.h"
#include "collection/write/collection_access.h"
#include "layout/collection/collection_manifest.h"
#include "wal/log.h"

namespace farvec::collection {

/// Callers hold the collection's mutex, except where it says otherwise. save() gives it up while it
/// writes, and takes a mutex of its own before, so that one thread at a time writes.
class Manifests {
 public:
  using Lock = std::unique_lock<std::mutex>;

  /// Borrows the collection.
  explicit Manifests(const OpenedCollection& opened);

  /// Opens the segments of the manifest, removes what a killed process left beside them, and begins
  /// to bring all to memory nodes, where the collection's segments are there. It comes first, and
  /// is called once. Throws Error naming what is damaged.
  std::vector<View::Bulk> open();

  /// Returns the folder of a segment; any thread may call it.
  std::filesystem::path segment_folder(std::uint64_t number) const {
    return files_.segment_folder(number);
  }
  /// Returns the number of a new segment, which no other one has or had.
  std::uint64_t take_number() { return next_segment_++; }
  /// Segments that are begun from now on have this number or a higher one.
  std::uint64_t next_number() const { return next_segment_; }

  /// The manifests that are written from now on have this schema.
  void set_schema(layout::Schema schema) {
    schema_ = std::move(schema);
    note_change();
  }
  /// The segments are others than before, or something else is to be in the next manifest.
  void note_change() { ++changed_; }
  /// The segments of `before` that are not in `now` end when nothing reads them any more.
  void note_replaced(const View& before, const View& now);
  /// Deletes a segment that was made and is not to be used: it is in no view. Any thread may call
  /// it.
  void discard(std::shared_ptr<Segment> segment) { replaced_.discard(std::move(segment)); }
  /// Says whether the manifest has all that note_change() and note_replaced() told.
  bool is_saved() const { return saved_ == changed_; }
  /// Says whether opening would have to read too much of a log that ends at `end`.
  bool is_long(wal::Position end) const {
    return end - saved_position_ > opened_.access.most_log_bytes;
  }

  /// Makes the segments of `contents` durable and cuts the log, unless the manifest has them and
  /// the log is not long. Gives up the lock meanwhile: what changes then is for the next call.
  /// Returns with the lock. Throws Error, without the lock; then the former manifest holds, or this
  /// one, and is_saved() stays false.
  void save(Lock& lock, const Contents& contents, wal::Log& log);

 private:
  const OpenedCollection& opened_;
  /// Is held while a manifest is written; it is locked before the collection's mutex.
  std::mutex saving_;
  CollectionFiles files_;   ///< guarded by saving_, once open() has returned
  std::uint64_t revision_;  ///< that of the newest manifest; guarded by saving_
  ReplacedSegments replaced_;

  layout::Schema schema_;         ///< that of the next manifest
  wal::Position saved_position_;  ///< where the log is replayed from, by the saved manifest
  std::uint64_t next_segment_;
  std::uint64_t changed_ = 0;  ///< how many times the segments have changed
  std::uint64_t saved_ = 0;    ///< how many of these changes the manifest has
};

}  // namespace farvec::collection
