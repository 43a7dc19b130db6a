#include "collection/state/replaced_segments.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "collection/memtable/yielding.h"

namespace farvec::collection {
namespace {
/// It checks this often whether the segments still have other holders.
constexpr auto kUsersLook = std::chrono::milliseconds(50);
}  // namespace

ReplacedSegments::ReplacedSegments() : thread_([this] { run(); }) {}

ReplacedSegments::~ReplacedSegments() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ReplacedSegments::add(const View& before, const View& now) {
  const std::lock_guard lock(mutex_);
  for (const View::Bulk& old : before.segments) {
    const auto is_old = [&](const View::Bulk& bulk) { return bulk.segment == old.segment; };
    if (std::any_of(now.segments.begin(), now.segments.end(), is_old)) continue;
    segments_.push_back(old.segment);
  }
  changed_.notify_one();
}

void ReplacedSegments::end_unused() {
  std::vector<std::shared_ptr<Segment>> unused;  // ends without the lock
  const std::lock_guard lock(mutex_);
  // The only holder remains the only one, because no view has the segment any more.
  const auto first = std::partition(segments_.begin(), segments_.end(),
                                    [](const auto& segment) { return segment.use_count() > 1; });
  unused.assign(std::make_move_iterator(first), std::make_move_iterator(segments_.end()));
  segments_.erase(first, segments_.end());
}

void ReplacedSegments::run() {
  yield_to_searches();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (segments_.empty()) {
      changed_.wait(lock, [this] { return stop_ || !segments_.empty(); });
    } else {
      changed_.wait_for(lock, kUsersLook, [this] { return stop_; });
    }
    lock.unlock();
    end_unused();
    lock.lock();
  }
}

}  // namespace farvec::collection
