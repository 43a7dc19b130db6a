// A CollectionFollower follows a collection that another process changes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "collection/memtable/memtable_linker.h"
#include "collection/read/collection_reader.h"
#include "collection/state/replaced_segments.h"
#include "collection/state/view.h"

namespace farvec::collection {

/// The log is not read further while there are more memtables. The writer has three; there are more
/// only while the segments that have their rows are being opened, or cannot be.
inline constexpr std::size_t kMostFollowedMemtables = 8;

struct FollowOptions {
  double poll_us = 2'000;  ///< how often the end of the log is checked
  /// How often it checks for other segments; none: the source's interval.
  std::optional<double> manifest_us = {};
  double retry_us = 500'000;  ///< after a failure
  Reading::Records records = Reading::Records::load;
  bool link = false;  ///< memtables are linked in the background: for processes that search
  /// The place of the log; null: in the folder.
  std::shared_ptr<LogNodes> log_nodes = nullptr;
};

struct FollowState {
  /// All that was in the log this long ago is in the view.
  double stale_us = 0;
  std::uint64_t changes =
      0;  ///< changes that came through the log of the segments that are read now
  std::uint64_t switches = 0;  ///< to other segments
  std::uint64_t failures = 0;
  std::string failure;  ///< why other segments cannot be opened, for now; empty: they can
};

/// Reads the log's end every few milliseconds, and opens segments that the writer has made beside
/// those that are searched. It has its own memtables. What the writer appended is in the view soon
/// after, at times before it is acknowledged; a batch is in it as a whole or not at all. A log that
/// grows faster than it is read comes piece by piece, and the view is never older than an earlier
/// one of the same log. A follower that was away for longer than the log is kept begins anew with
/// the segments. Rows that were imported come with their segment, and what the log has after them
/// does not come before it.
///
/// What cannot be read is logged, and tried again. Meanwhile the log is followed for as long as its
/// rows fit kMostFollowedMemtables and nothing was imported. Then, or where it is the log that
/// cannot be read, the view stays as it is and stale_us grows.
class CollectionFollower {
 public:
  /// Opens the collection in the way of CollectionReader, and throws what that throws.
  CollectionFollower(const std::filesystem::path& folder, const SegmentAccess& access,
                     const FollowOptions& options = {})
      : CollectionFollower(folder_collection(folder), access, options) {}
  /// Does the same for a collection that is found in `source`.
  CollectionFollower(std::shared_ptr<CollectionSource> source, const SegmentAccess& access,
                     const FollowOptions& options = {});
  ~CollectionFollower();
  CollectionFollower(const CollectionFollower&) = delete;
  CollectionFollower& operator=(const CollectionFollower&) = delete;

  /// The manifest of the first opening: types and options are the collection's, the rest is of the
  /// past.
  const layout::CollectionManifest& shape() const { return shape_; }
  ViewPointer view() const { return view_.get(); }
  FollowState state() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  std::shared_ptr<CollectionReader> open(const Segment::OnChunk& on_chunk) const;

  // These are for the thread that reads the log.
  void follow_log();
  bool has_reader();
  bool read_on();
  void publish(Ticks began, bool whole);
  void lose(const std::exception& error);

  // These are for the thread that opens segments.
  void follow_segments();
  bool is_superseded();
  void open_anew();
  void link(const CollectionReader& next);
  void note_success();
  void note_failure(const std::exception& error);

  bool sleep(double us);
  bool sleep_until_lost(double us);
  bool is_stopping() const;
  void stop();
  std::vector<std::shared_ptr<Memtable>> memtables() const;

  const std::shared_ptr<CollectionSource>
      source_;  ///< after the constructor, for the thread that opens segments
  const SegmentAccess access_;
  const FollowOptions options_;
  CurrentView view_;
  layout::CollectionManifest shape_;

  // Only the thread that reads the log uses these.
  std::shared_ptr<CollectionReader> reader_;
  bool switching_ = false;  ///< nothing that this reader has read is in the view yet

  // Only the thread that opens segments uses this.
  bool nodes_changed_ = false;  ///< since the newest reader was opened

  mutable std::mutex mutex_;  ///< guards the members below; held for moments
  std::condition_variable wake_;
  layout::CollectionManifest followed_;               ///< that of the newest reader
  std::shared_ptr<CollectionReader> next_;            ///< is to be the reader from now on
  std::vector<std::shared_ptr<Memtable>> memtables_;  ///< those of the view
  Ticks read_at_ = 0;                                 ///< when the log was read to its end
  bool lost_ = false;                                 ///< the reader's log could not be read on
  std::uint64_t changes_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t failures_ = 0;
  std::string failure_;
  bool stop_ = false;
  ReplacedSegments replaced_;
  std::optional<MemtableLinker> linker_;
  std::thread log_thread_;
  std::thread segments_thread_;
};

}  // namespace farvec::collection
