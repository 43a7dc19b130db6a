// Segments that others have taken the place of, until no search has them any more.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collection/state/view.h"

namespace farvec::collection {

/// Holds them until it is their only holder, so that they end on a thread of its own: what a
/// segment ends with, memory and files of many GB, is no work for a core that searches. Any thread
/// may call everything.
class ReplacedSegments {
 public:
  ReplacedSegments();
  ~ReplacedSegments();
  ReplacedSegments(const ReplacedSegments&) = delete;
  ReplacedSegments& operator=(const ReplacedSegments&) = delete;

  /// Those of `before` that `now` has not.
  void add(const View& before, const View& now);
  /// Ends those that nobody else has, on this thread.
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
