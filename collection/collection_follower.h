// A collection that another process of this machine changes, followed as it changes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "collection/collection_reader.h"
#include "collection/memtable_linker.h"
#include "collection/view.h"

namespace farvec::collection {

struct FollowOptions {
  double poll_us = 2'000;       ///< the end of the log is looked at so often
  double manifest_us = 20'000;  ///< and for other segments so often
  double retry_us = 500'000;    ///< after a failure
  Reading::Records records = Reading::Records::load;
  bool link = false;  ///< memtables are linked in the background: for processes that search
};

struct FollowState {
  /// All that lay in the log so long ago is in the view.
  double stale_us = 0;
  std::uint64_t changes = 0;   ///< that came through the log of the segments that are read now
  std::uint64_t switches = 0;  ///< to other segments
  std::uint64_t failures = 0;
  std::string failure;  ///< why it does not follow any more, for now; empty: it does
};

/// Reads the log's end every few milliseconds, and opens segments that the writer has made beside
/// those that are searched. Memtables are its own. What the writer appended is in the view soon
/// after, at times before it is acknowledged; a batch is in it as a whole or not at all. Whoever
/// was away for longer than the log is kept begins anew with the segments.
///
/// When something cannot be read the view stays as it is, stale_us grows, and it is tried again.
class CollectionFollower {
 public:
  /// Opens it as CollectionReader does, and throws as that.
  CollectionFollower(const std::filesystem::path& folder, const SegmentAccess& access,
                     const FollowOptions& options = {});
  ~CollectionFollower();
  CollectionFollower(const CollectionFollower&) = delete;
  CollectionFollower& operator=(const CollectionFollower&) = delete;

  /// Of the first opening: types and options are the collection's, the rest is of the past.
  const layout::CollectionManifest& shape() const { return shape_; }
  ViewPointer view() const { return view_.get(); }
  FollowState state() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void follow_log();
  void follow_segments();
  bool is_superseded();
  void open_anew();
  void note_failure(Lock& lock, const std::exception& error);
  bool sleep(Lock& lock, double us);
  std::vector<std::shared_ptr<Memtable>> memtables() const;

  const std::filesystem::path folder_;
  const SegmentAccess access_;
  const FollowOptions options_;
  CurrentView view_;
  layout::CollectionManifest shape_;

  mutable std::mutex mutex_;  ///< of what follows
  std::condition_variable wake_;
  std::shared_ptr<CollectionReader> reader_;
  Ticks read_at_ = 0;  ///< when the log was read to its end
  bool lost_ = false;  ///< the reader's log could not be read on
  std::uint64_t switches_ = 0;
  std::uint64_t failures_ = 0;
  std::string failure_;
  bool stop_ = false;
  std::optional<MemtableLinker> linker_;
  std::thread log_thread_;
  std::thread segments_thread_;
};

}  // namespace farvec::collection
