#include "collection/state/replaced_segments.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "collection/memtable/yielding.h"

namespace farvec::collection {
namespace {
/// It checks this often whether the segments still have other holders.
constexpr auto kUsersLook = std::chrono::milliseconds(50);
}  // namespace

ReplacedSegments::ReplacedSegments(Remove remove)
    : remove_(std::move(remove)), thread_([this] { run(); }) {}

ReplacedSegments::~ReplacedSegments() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
  end_unused();
}

void ReplacedSegments::add(const View& before, const View& now) {
  const std::lock_guard lock(mutex_);
  for (const View::Bulk& old : before.segments) {
    const auto is_old = [&](const View::Bulk& bulk) { return bulk.segment == old.segment; };
    if (std::any_of(now.segments.begin(), now.segments.end(), is_old)) continue;
    entries_.push_back({.number = old.segment->number(), .segment = old.segment});
  }
  changed_.notify_one();
}

void ReplacedSegments::discard(std::shared_ptr<Segment> segment) {
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = segment->number();
    entries_.push_back({.number = number, .segment = std::move(segment), .named = false});
  }
  changed_.notify_one();
  end_unused();
}

void ReplacedSegments::note_manifest(const std::function<bool(std::uint64_t number)>& names) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) entry.named = entry.named && names(entry.number);
  changed_.notify_one();
}

/// Says whether nothing is left to do for it but to delete its files.
bool ReplacedSegments::may_go(const Entry& entry) const {
  return entry.segment == nullptr && !entry.ending && !(entry.named && remove_);
}

void ReplacedSegments::end_unused() {
  std::vector<std::shared_ptr<Segment>> unused;
  std::vector<std::uint64_t> gone;
  std::unique_lock lock(mutex_);
  for (Entry& entry : entries_) {
    // The only holder remains the only one, because no view has the segment any more.
    if (entry.segment == nullptr || entry.segment.use_count() > 1) continue;
    entry.ending = true;
    gone.push_back(entry.number);
    unused.push_back(std::move(entry.segment));
  }
  lock.unlock();
  unused.clear();
  lock.lock();
  for (Entry& entry : entries_) {
    if (std::find(gone.begin(), gone.end(), entry.number) != gone.end()) entry.ending = false;
  }
  gone.clear();
  std::erase_if(entries_, [&](const Entry& entry) {
    if (may_go(entry)) gone.push_back(entry.number);
    return may_go(entry);
  });
  lock.unlock();
  for (const std::uint64_t number : gone) {
    if (remove_) remove_(number);
  }
}

bool ReplacedSegments::has_work() const {
  return std::any_of(entries_.begin(), entries_.end(), [this](const Entry& entry) {
    return entry.segment != nullptr || may_go(entry);
  });
}

void ReplacedSegments::run() {
  yield_to_searches();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (has_work()) {
      changed_.wait_for(lock, kUsersLook, [this] { return stop_; });
    } else {
      changed_.wait(lock, [this] { return stop_ || has_work(); });
    }
    lock.unlock();
    end_unused();
    lock.lock();
  }
}

}  // namespace farvec::collection
