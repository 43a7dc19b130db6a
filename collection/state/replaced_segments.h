// ReplacedSegments hold segments that others have replaced, until no search has them any more.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collection/state/view.h"

namespace farvec::collection {

/// Holds the segments until it is their only holder, so that they end on a thread of its own:
/// releasing memory and files of many GB is no work for a core that searches. Any thread may call
/// everything.
class ReplacedSegments {
 public:
  ReplacedSegments();
  ~ReplacedSegments();
  ReplacedSegments(const ReplacedSegments&) = delete;
  ReplacedSegments& operator=(const ReplacedSegments&) = delete;

  /// Adds the segments of `before` that are not in `now`.
  void add(const View& before, const View& now);
  /// Ends the segments that have no other holder, on this thread.
  void end_unused();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Segment>> segments_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace farvec::collection
