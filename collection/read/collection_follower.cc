#include "collection/read/collection_follower.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <utility>

#include "base/error.h"
#include "collection/memtable/yielding.h"

namespace farvec::collection {
namespace {
/// What the log has is brought into the view after this time, even when there is more of it.
constexpr double kPieceUs = 2'000;
}  // namespace

CollectionFollower::CollectionFollower(std::shared_ptr<CollectionSource> source,
                                       const SegmentAccess& access, const FollowOptions& options)
    : source_(std::move(source)),
      access_(access),
      options_(options),
      view_(nullptr),
      reader_(open({})),
      followed_(reader_->shape()),
      memtables_(reader_->memtables()),
      read_at_(now_ticks()),
      changes_(reader_->recovery().changes) {
  shape_ = reader_->shape();
  view_.set(reader_->view());
  if (options.link) linker_.emplace([this] { return memtables(); });
  log_thread_ = std::thread([this] { follow_log(); });
  try {
    segments_thread_ = std::thread([this] { follow_segments(); });
  } catch (...) {
    stop();
    throw;
  }
}

std::shared_ptr<CollectionReader> CollectionFollower::open(const Segment::OnChunk& on_chunk) const {
  if (options_.log_nodes != nullptr) (void)options_.log_nodes->refresh();
  return std::make_shared<CollectionReader>(*source_, access_,
                                            Reading{.records = options_.records,
                                                    .tail = wal::LogTail::growing,
                                                    .known = view(),
                                                    .log_nodes = options_.log_nodes,
                                                    .on_chunk = on_chunk});
}

CollectionFollower::~CollectionFollower() {
  stop();
}

void CollectionFollower::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  log_thread_.join();
  if (segments_thread_.joinable()) segments_thread_.join();
}

std::vector<std::shared_ptr<Memtable>> CollectionFollower::memtables() const {
  const std::lock_guard lock(mutex_);
  return memtables_;
}

FollowState CollectionFollower::state() const {
  const std::lock_guard lock(mutex_);
  return {.stale_us = ticks_to_us(now_ticks() - read_at_),
          .changes = changes_,
          .switches = switches_,
          .failures = failures_,
          .failure = failure_};
}

/// False once the thread is to end.
bool CollectionFollower::sleep(double us) {
  Lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::duration<double, std::micro>(us), [this] { return stop_; });
  return !stop_;
}

/// Sleeps like sleep(), but no longer once the log cannot be read on.
bool CollectionFollower::sleep_until_lost(double us) {
  Lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::duration<double, std::micro>(us),
                 [this] { return stop_ || lost_; });
  return !stop_;
}

void CollectionFollower::follow_log() {
  bool whole = true;
  do {
    whole = !has_reader() || read_on();
  } while (sleep(whole ? options_.poll_us : 0));
}

/// Takes the reader that was opened last. False where there is no reader to go on with.
bool CollectionFollower::has_reader() {
  std::shared_ptr<CollectionReader> former;  // ends without the lock
  const std::lock_guard lock(mutex_);
  if (next_ != nullptr) {
    former = std::exchange(reader_, std::exchange(next_, nullptr));
    switching_ = true;
  }
  return !lost_ && reader_->view()->memtables.size() <= kMostFollowedMemtables;
}

/// Returns whether the log was read to its end.
bool CollectionFollower::read_on() {
  const Ticks began = now_ticks();
  try {
    const bool whole = reader_->read_on(began + us_to_ticks(kPieceUs));
    // The view does not go back when another reader was opened before the last changes that were
    // seen.
    if (whole || !switching_ || reader_->view()->version >= view()->version) publish(began, whole);
    return whole;
  } catch (const std::exception& error) {
    lose(error);
    return true;
  }
}

void CollectionFollower::publish(Ticks began, bool whole) {
  if (switching_) replaced_.add(*view(), *reader_->view());
  view_.set(reader_->view());
  std::vector<std::shared_ptr<Memtable>> memtables = reader_->memtables();
  const std::uint64_t changes = reader_->recovery().changes;
  const std::lock_guard lock(mutex_);
  memtables_.swap(memtables);
  if (whole) read_at_ = began;
  if (std::exchange(switching_, false)) ++switches_;
  if (linker_ && changes != changes_) linker_->wake();
  changes_ = changes;
}

void CollectionFollower::lose(const std::exception& error) {
  // What the writer moved just then, or imported, does not count as a failure of the next reader.
  spdlog::debug("collection '{}' is opened anew: {}", source_->name(), error.what());
  const std::lock_guard lock(mutex_);
  lost_ = next_ == nullptr;
  wake_.notify_all();
}

void CollectionFollower::follow_segments() {
  yield_to_searches();
  bool failed = false;
  const double interval_us =
      options_.manifest_us.value_or(static_cast<double>(source_->interval().count()) * 1e3);
  while (failed ? sleep(options_.retry_us) : sleep_until_lost(interval_us)) {
    try {
      if (is_superseded()) open_anew();
      failed = false;
      note_success();
    } catch (const std::exception& error) {
      note_failure(error);
      failed = true;
    }
  }
}

bool CollectionFollower::is_superseded() {
  if (options_.log_nodes != nullptr && options_.log_nodes->refresh()) nodes_changed_ = true;
  const layout::CollectionManifest newest = source_->manifest();
  const std::lock_guard lock(mutex_);
  return lost_ || nodes_changed_ || newest != followed_;
}

/// It runs beside the searches, and beside the thread that reads the log.
void CollectionFollower::open_anew() {
  std::shared_ptr<CollectionReader> next = open([this](std::uint64_t) {
    if (is_stopping()) throw Error("the collection is not followed any more");
  });
  if (linker_) link(*next);
  const std::lock_guard lock(mutex_);
  followed_ = next->shape();
  next_.swap(next);
  lost_ = nodes_changed_ = false;
}

/// Links its memtables, because searches would compare with each of its rows at first. What comes
/// to the log meanwhile is linked in the usual way.
void CollectionFollower::link(const CollectionReader& next) {
  LinkScratch scratch;
  for (const auto& memtable : next.memtables()) {
    while (!is_stopping() && memtable->link_next(scratch)) {
    }
  }
}

bool CollectionFollower::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

void CollectionFollower::note_success() {
  const std::lock_guard lock(mutex_);
  failure_.clear();
}

void CollectionFollower::note_failure(const std::exception& error) {
  const std::lock_guard lock(mutex_);
  ++failures_;
  if (failure_ == error.what()) return;
  failure_ = error.what();
  spdlog::warn("collection '{}': changes are not followed, tried again: {}", source_->name(),
               failure_);
}

}  // namespace farvec::collection
