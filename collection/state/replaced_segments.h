// ReplacedSegments hold segments that are in the newest view no more, until no search has them, and
// then have their files deleted.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collection/state/view.h"

namespace farvec::collection {

/// Holds the segments until it is their only holder, so that they end on a thread of its own:
/// releasing memory and files of many GB is no work for a core that searches. The files of a
/// segment go once it has ended and no manifest names it. Files that are left when this object ends
/// are for the next opening of the collection. Any thread may call everything.
class ReplacedSegments {
 public:
  /// Deletes the files of a segment; called by any thread, without locks.
  using Remove = std::function<void(std::uint64_t number)>;

  /// Empty: the files are another process's, which deletes them.
  explicit ReplacedSegments(Remove remove = {});
  ~ReplacedSegments();
  ReplacedSegments(const ReplacedSegments&) = delete;
  ReplacedSegments& operator=(const ReplacedSegments&) = delete;

  /// Adds the segments of `before` that are not in `now`.
  void add(const View& before, const View& now);
  /// Adds a segment that no view and no manifest has or will have, and ends it.
  void discard(std::shared_ptr<Segment> segment);
  /// A manifest is there that names only those of the added segments for which `names` says so.
  void note_manifest(const std::function<bool(std::uint64_t number)>& names);
  /// Ends the segments that have no other holder, on this thread.
  void end_unused();

 private:
  struct Entry {
    std::uint64_t number = 0;
    std::shared_ptr<Segment> segment;  ///< null: it has ended, or is ending
    bool ending = false;               ///< a thread is releasing it
    bool named = true;                 ///< a manifest may name it
  };

  void run();
  bool has_work() const;
  bool may_go(const Entry& entry) const;

  const Remove remove_;
  std::mutex mutex_;  ///< guards the members below; held for moments
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace farvec::collection
