// A collection's background builds segments and, beside that, merges them.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "collection/build/merge_policy.h"
#include "collection/memtable/yielding.h"
#include "collection/write/collection.h"

namespace farvec::collection {
namespace {

constexpr double kLogFlushUs = 60e6;
/// After a failure, for instance of a full disk, the background waits this long before it tries
/// again; it tries at once when a call asks for what failed.
constexpr auto kRetry = std::chrono::seconds(5);

/// Returns a view of the oldest memtable alone: what is made of it holds nothing else.
ViewPointer oldest_memtable(const View& view) {
  auto part = std::make_shared<View>();
  part->version = view.version;
  part->memtables = {view.memtables.front()};
  return part;
}

ViewPointer segments_of(const View& view, const std::vector<std::size_t>& numbers) {
  auto part = std::make_shared<View>();
  part->version = view.version;
  for (const std::size_t i : numbers) part->segments.push_back(view.segments[i]);
  return part;
}

}  // namespace

bool Collection::log_is_long() const {
  return log_->end() - saved_position_ > access_.most_log_bytes;
}

std::vector<std::size_t> Collection::segments_to_compact(const View& view) const {
  std::vector<std::size_t> compacted;
  for (std::size_t i = 0; i < view.segments.size(); ++i) {
    if (view.segments[i].segment->number() < compact_below_) compacted.push_back(i);
  }
  const bool is_compact = compacted.size() == 1 && view.segments[compacted.front()].out->empty();
  return is_compact ? std::vector<std::size_t>() : compacted;
}

std::vector<std::size_t> Collection::segments_to_merge(const View& view) const {
  if (auto compacted = segments_to_compact(view); !compacted.empty()) return compacted;
  std::vector<SegmentSize> sizes;
  for (const View::Bulk& bulk : view.segments) sizes.push_back({bulk.segment->rows(), bulk.live()});
  if (!access_.merge) return {};
  return choose_merge(sizes, {.fanout = shape_.options.merge_fanout,
                              .memtable_rows = shape_.options.memtable_rows});
}

Collection::Job Collection::next_build() const {
  if (contents_.frozen() > 0) return Job::build;
  if (imported_ != nullptr) return Job::adopt;
  return !is_saved() || log_is_long() ? Job::save : Job::none;
}

Collection::Job Collection::next_merge() const {
  return segments_to_merge(*contents_.current()).empty() ? Job::none : Job::merge;
}

void Collection::start_background() {
  try {
    builder_.thread = std::thread([this] { run(builder_, &Collection::next_build); });
    merger_.thread = std::thread([this] { run(merger_, &Collection::next_merge); });
  } catch (...) {
    stop_background();
    throw;
  }
}

void Collection::stop_background() {
  {
    const Lock lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
  }
  work_.notify_all();
  progress_.notify_all();
  for (BackgroundWorker* worker : {&builder_, &merger_}) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void Collection::run(BackgroundWorker& worker, Job (Collection::*next)() const) {
  yield_to_searches();
  Lock lock(mutex_);
  while (!stop_.load(std::memory_order_relaxed)) {
    const Job job = (this->*next)();
    if (job == Job::none) {
      work_.wait(lock);
    } else if (!worker.may_try()) {
      work_.wait_until(lock, worker.retry_from);
    } else {
      attempt(lock, worker, job);
    }
  }
}

void Collection::attempt(Lock& lock, BackgroundWorker& worker, Job job) {
  ++worker.attempts;
  try {
    work(lock, job);
    if (!lock.owns_lock()) lock.lock();
    worker.failure.clear();
    worker.retry_from = {};
  } catch (const WorkInterrupted&) {
    // The job begins again when the collection is opened the next time.
    if (!lock.owns_lock()) lock.lock();
  } catch (const std::exception& error) {
    if (!lock.owns_lock()) lock.lock();
    note_failure(worker, error);
  }
  progress_.notify_all();
  // One worker's end may be another's job.
  work_.notify_all();
}

void Collection::note_failure(BackgroundWorker& worker, const std::exception& error) {
  worker.failure = error.what();
  worker.failed_attempt = worker.attempts;
  worker.retry_from = std::chrono::steady_clock::now() + kRetry;
  ++failures_;
  spdlog::error("collection '{}': a segment could not be built, tried again in {} s: {}",
                folder_.string(), kRetry.count(), error.what());
}

/// Does one job. May return, or throw, without the lock.
void Collection::work(Lock& lock, Job job) {
  if (job == Job::build) return build(lock);
  if (job == Job::merge) return merge(lock);
  // What is fresh becomes a segment first: the log is replayed from where the fresh rows begin.
  if ((job == Job::adopt || log_is_long()) && contents_.holds_rows()) {
    return contents_.rotate(log_->end());
  }
  return job == Job::adopt ? adopt(lock) : save(lock);
}

SegmentRecipe Collection::recipe_of(std::uint64_t number, BuildWatch& watch,
                                    unsigned threads) const {
  return {.folder = files_.segment_folder(number),
          .number = number,
          .name = folder_.filename().string(),
          .manifest = &shape_,
          .access = access_.segments,
          .followers = access_.followers,
          .threads = threads,
          .watch = &watch};
}

/// Makes a segment of the oldest memtable.
void Collection::build(Lock& lock) {
  const SegmentRecipe recipe = recipe_of(next_segment_++, build_watch_, access_.build_threads);
  ViewPointer part = oldest_memtable(*contents_.current());
  std::shared_ptr<Memtable> memtable = contents_.memtables().front();
  lock.unlock();
  const WatchedBuild watched(build_watch_, 1, part->live());
  Replacement replacement = build_segment(part, *memtable, recipe);
  part.reset();
  memtable.reset();
  take_over(lock, replacement, build_watch_);
}

void Collection::merge(Lock& lock) {
  const SegmentRecipe recipe = recipe_of(next_segment_++, merge_watch_, access_.merge_threads);
  ViewPointer view = contents_.current();
  ViewPointer part = segments_of(*view, segments_to_merge(*view));
  view.reset();
  lock.unlock();
  const WatchedBuild watched(merge_watch_, part->segments.size(), part->live());
  Replacement replacement = merge_segments(part, recipe);
  part.reset();
  take_over(lock, replacement, merge_watch_);
}

/// Loads a new segment in a process that searches, so that searches that come after this find it
/// loaded.
void Collection::load(const Segment* segment, BuildWatch& watch) const {
  if (segment == nullptr || !access_.link) return;
  watch.enter(BuildPhase::loading);
  segment->load([&watch](std::uint64_t bytes) { watch.moved(bytes); });
}

/// Puts the new segment in the place of what it was made of. Is called without the lock, and
/// returns with it.
void Collection::take_over(Lock& lock, Replacement& replacement, BuildWatch& watch) {
  load(replacement.segment.get(), watch);
  lock.lock();
  ViewPointer before = contents_.current();
  contents_.replace(replacement);
  replaced_.add(*before, *contents_.current());
  // From now on a few rows that are out are no reason to write a segment anew.
  if (segments_to_compact(*contents_.current()).empty()) compact_below_ = 0;
  ++segments_changed_;
  ++(&watch == &merge_watch_ ? merged_ : built_);
  if (replacement.segment != nullptr) segment_bytes_ += replacement.segment->file_bytes();
  lock.unlock();
  // This frees what was replaced, for which no other thread is to wait.
  before.reset();
  replacement = {};
  lock.lock();
  save(lock);
}

void Collection::adopt(Lock& lock) {
  version_ += imported_->rows();
  *import_replaced_ = contents_.add(imported_, version_);
  segment_bytes_ += imported_->file_bytes();
  imported_ = nullptr;
  ++built_;
  ++segments_changed_;
  save(lock);
}

/// Writes the manifest, one thread at a time: the second one saves what the first one's manifest
/// lacks.
void Collection::save(Lock& lock) {
  lock.unlock();
  const std::lock_guard turn(saving_);
  lock.lock();
  if (is_saved() && !log_is_long()) return;
  const ViewPointer view = contents_.current();
  const wal::Position end = log_->end();
  const std::uint64_t changed = segments_changed_;
  layout::CollectionManifest manifest = shape_;
  manifest.next_segment = next_segment_;
  manifest.last_version = view->version;
  manifest.log_position = contents_.log_begin().value_or(end);
  lock.unlock();
  // Rows that are out because of changes that a kill undoes would be gone for good.
  const Status flushed = log_->flush(end, now_ticks() + us_to_ticks(kLogFlushUs));
  if (!flushed.ok()) throw Error("the log of '{}': {}", folder_.string(), flushed.message());
  // Nodes may have only an earlier catalogue, with which readers begin where that one says: then
  // the log is not cut.
  if (files_.save(*view, manifest)) log_->cut(manifest.log_position);
  // This frees memory and files, for which no other thread is to wait.
  replaced_.end_unused();
  lock.lock();
  saved_position_ = manifest.log_position;
  segments_saved_ = changed;
}

}  // namespace farvec::collection
