#include "collection/collection_follower.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <utility>

namespace farvec::collection {

CollectionFollower::CollectionFollower(const std::filesystem::path& folder,
                                       const SegmentAccess& access, const FollowOptions& options)
    : folder_(folder),
      access_(access),
      options_(options),
      view_(nullptr),
      reader_(std::make_shared<CollectionReader>(
          folder, access, Reading{.records = options.records, .tail = wal::LogTail::growing})),
      read_at_(now_ticks()) {
  shape_ = reader_->shape();
  view_.set(reader_->view());
  if (options.link) linker_.emplace([this] { return memtables(); });
  log_thread_ = std::thread([this] { follow_log(); });
  segments_thread_ = std::thread([this] { follow_segments(); });
}

CollectionFollower::~CollectionFollower() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  log_thread_.join();
  segments_thread_.join();
}

std::vector<std::shared_ptr<Memtable>> CollectionFollower::memtables() const {
  const std::lock_guard lock(mutex_);
  return reader_->memtables();
}

FollowState CollectionFollower::state() const {
  const std::lock_guard lock(mutex_);
  return {.stale_us = ticks_to_us(now_ticks() - read_at_),
          .changes = reader_->recovery().changes,
          .switches = switches_,
          .failures = failures_,
          .failure = failure_};
}

/// False once it is to end.
bool CollectionFollower::sleep(Lock& lock, double us) {
  wake_.wait_for(lock, std::chrono::duration<double, std::micro>(us), [this] { return stop_; });
  return !stop_;
}

void CollectionFollower::note_failure(Lock&, const std::exception& error) {
  ++failures_;
  if (failure_ == error.what()) return;
  failure_ = error.what();
  spdlog::warn("collection '{}': changes are not followed, tried again: {}", folder_.string(),
               failure_);
}

void CollectionFollower::follow_log() {
  Lock lock(mutex_);
  do {
    if (lost_) continue;
    const Ticks began = now_ticks();
    try {
      const std::uint64_t before = reader_->recovery().changes;
      reader_->read_on();
      read_at_ = began;
      view_.set(reader_->view());
      if (linker_ && reader_->recovery().changes != before) linker_->wake();
    } catch (const std::exception& error) {
      // What the writer moved just then is no failure of the next reader.
      spdlog::debug("collection '{}' is opened anew: {}", folder_.string(), error.what());
      lost_ = true;
    }
  } while (sleep(lock, options_.poll_us));
}

void CollectionFollower::follow_segments() {
  Lock lock(mutex_);
  for (bool failed = false; sleep(lock, failed ? options_.retry_us : options_.manifest_us);) {
    try {
      lock.unlock();
      if (is_superseded()) open_anew();
      lock.lock();
      failed = false;
    } catch (const std::exception& error) {
      if (!lock.owns_lock()) lock.lock();
      note_failure(lock, error);
      failed = true;
    }
  }
}

bool CollectionFollower::is_superseded() {
  const layout::CollectionManifest newest = layout::read_collection(folder_);
  const std::lock_guard lock(mutex_);
  return lost_ || newest != reader_->shape();
}

/// The log is read beside what follows it, and to its end again when that waits.
void CollectionFollower::open_anew() {
  auto next = std::make_shared<CollectionReader>(
      folder_, access_,
      Reading{.records = options_.records, .tail = wal::LogTail::growing, .known = view()});
  {
    const std::lock_guard lock(mutex_);
    const Ticks began = now_ticks();
    next->read_on();
    read_at_ = began;
    view_.set(next->view());
    reader_.swap(next);
    lost_ = false;
    ++switches_;
    failure_.clear();
  }
}

}  // namespace farvec::collection
