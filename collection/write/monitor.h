// A Monitor is the one mutex of a collection that is open for changes, with what threads wait for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace farvec::collection {

/// The mutex guards the contents, the version, what a Manifests counts, and the state of the
/// background. It is held for moments: a thread gives it up before it reads or writes files, builds
/// or waits.
///
/// There are two orders. Manifests::save() locks its own mutex, then this one. Under this one a
/// thread may lock those inside of the log, the current view, a BuildWatch, a MemtableLinker,
/// ReplacedSegments and a SegmentPublisher's state; none of these locks another one.
struct Monitor {
  std::mutex mutex;
  std::condition_variable work;      ///< the background waits for something to do
  std::condition_variable progress;  ///< calls wait for the background, for room, for their turn
  /// Set under the mutex. Builds ask it without; relaxed: it saves work and orders nothing.
  std::atomic<bool> stop{false};
};

}  // namespace farvec::collection
