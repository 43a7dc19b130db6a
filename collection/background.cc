// What a collection does besides changes: segments are built and merged.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "collection/collection.h"
#include "collection/merge_policy.h"
#include "collection/yielding.h"
#include "graph/vamana_builder.h"

namespace farvec::collection {
namespace {

constexpr double kLogFlushUs = 60e6;
/// After a failure, for instance of a full disk, the background tries again; at once when somebody
/// asks for what failed.
constexpr auto kRetry = std::chrono::seconds(5);
/// Between two questions whether who waits gives up.
constexpr auto kGiveUpPause = std::chrono::milliseconds(20);

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

Collection::Job Collection::next_job() const {
  if (contents_.frozen() > 0) return Job::build;
  if (imported_ != nullptr) return Job::adopt;
  // Merges come last: one that fails for good would keep the log from being cut.
  if (unsaved_ || log_is_long()) return Job::save;
  return segments_to_merge(*contents_.current()).empty() ? Job::none : Job::merge;
}

/// A merge that has failed is put off, so that it does not hold up what else there is to do.
Collection::Job Collection::due_job() const {
  const Job job = next_job();
  return job == Job::merge && !is_asked() && Clock::now() < merge_from_ ? Job::none : job;
}

void Collection::wait_for_job(Lock& lock) {
  if (next_job() == Job::none) {
    work_.wait(lock);
  } else {
    work_.wait_until(lock, merge_from_);
  }
}

void Collection::build_in_background() {
  yield_to_searches();
  Lock lock(mutex_);
  while (!stop_.load(std::memory_order_relaxed)) {
    const Job job = due_job();
    if (job == Job::none) {
      wait_for_job(lock);
      continue;
    }
    ++attempts_;
    try {
      work(lock, job);
      note_success(job);
    } catch (const WorkInterrupted&) {
      // Begun again when the collection is opened the next time.
    } catch (const std::exception& error) {
      if (!lock.owns_lock()) lock.lock();
      note_failure(lock, job, error);
    }
    if (!lock.owns_lock()) lock.lock();
    progress_.notify_all();
  }
}

/// What a merge has failed with is said until one succeeds, or there is none to make.
void Collection::note_success(Job job) {
  if (job == Job::merge || segments_to_merge(*contents_.current()).empty()) merge_from_ = {};
  if (merge_from_ == Clock::time_point()) failure_.clear();
}

void Collection::note_failure(Lock& lock, Job job, const std::exception& error) {
  failure_ = error.what();
  ++failures_;
  failed_attempt_ = attempts_;
  spdlog::error("collection '{}': a segment could not be built, tried again in {} s: {}",
                folder_.string(), kRetry.count(), error.what());
  progress_.notify_all();
  if (job == Job::merge) {
    merge_from_ = Clock::now() + kRetry;
  } else {
    work_.wait_for(lock, kRetry,
                   [this] { return is_asked() || stop_.load(std::memory_order_relaxed); });
  }
}

void Collection::work(Lock& lock, Job job) {
  if (job == Job::build || job == Job::merge) return replace_parts(lock, job);
  // What is fresh becomes a segment first: the log is read from where it began.
  if ((job == Job::adopt || log_is_long()) && contents_.holds_rows()) {
    return contents_.rotate(log_->end());
  }
  return job == Job::adopt ? adopt(lock) : save(lock);
}

SegmentRecipe Collection::recipe_of(std::uint64_t number) const {
  return {.folder = files_.segment_folder(number),
          .number = number,
          .name = folder_.filename().string(),
          .manifest = &shape_,
          .access = access_.segments,
          .threads = access_.build_threads,
          .interrupted = [this] { return stop_.load(std::memory_order_relaxed); }};
}

void Collection::replace_parts(Lock& lock, Job job) {
  ViewPointer view = contents_.current();
  const SegmentRecipe recipe = recipe_of(next_segment_++);
  std::vector<std::size_t> merged;
  if (job == Job::merge) merged = segments_to_merge(*view);
  std::vector<std::shared_ptr<Memtable>> memtables = contents_.memtables();
  lock.unlock();
  Replacement replacement = job == Job::merge ? merge_segments(view, merged, recipe)
                                              : build_segment(view, *memtables.front(), recipe);
  // Searches that come behind this find it loaded.
  if (access_.link && replacement.segment != nullptr) replacement.segment->load();
  lock.lock();
  contents_.replace(replacement);
  replaced_.add(*view, *contents_.current());
  // From now on a few rows that are out are no reason to write a segment anew.
  if (segments_to_compact(*contents_.current()).empty()) compact_below_ = 0;
  unsaved_ = true;
  ++(job == Job::merge ? merged_ : built_);
  if (replacement.segment != nullptr) segment_bytes_ += replacement.segment->file_bytes();
  save(lock);
  // What was replaced ends with these: memory and files that nobody is to wait for.
  lock.unlock();
  view.reset();
  memtables.clear();
  replacement = {};
  replaced_.end_unused();
  lock.lock();
}

Receipt Collection::import(const VectorView& rows, std::span<const std::uint64_t> ids) {
  if (rows.count == 0) return {};
  Lock lock(mutex_);
  const SegmentRecipe recipe = recipe_of(next_segment_++);
  lock.unlock();
  std::shared_ptr<Segment> segment = build_segment(rows, ids, recipe);
  if (access_.link) segment->load();
  lock.lock();
  wait_until(lock, [this] { return !importing_; });
  Receipt receipt;
  receipt.done = rows.count;
  importing_ = true;
  imported_ = std::move(segment);
  import_replaced_ = &receipt.replaced;
  try {
    wait_until(lock, [this] { return imported_ == nullptr && !unsaved_; });
  } catch (...) {
    imported_ = nullptr;
    importing_ = false;
    progress_.notify_all();
    throw;
  }
  importing_ = false;
  receipt.version = version_;
  progress_.notify_all();
  return receipt;
}

void Collection::adopt(Lock& lock) {
  version_ += imported_->rows();
  *import_replaced_ = contents_.add(imported_, version_);
  segment_bytes_ += imported_->file_bytes();
  imported_ = nullptr;
  ++built_;
  unsaved_ = true;
  save(lock);
}

void Collection::save(Lock& lock) {
  const ViewPointer view = contents_.current();
  const wal::Position end = log_->end();
  layout::CollectionManifest manifest = shape_;
  manifest.next_segment = next_segment_;
  manifest.last_version = view->version;
  manifest.log_position = contents_.log_begin().value_or(end);
  lock.unlock();
  // What is out by changes that a kill undoes would be gone for good.
  const Status flushed = log_->flush(end, now_ticks() + us_to_ticks(kLogFlushUs));
  if (!flushed.ok()) throw Error("the log of '{}': {}", folder_.string(), flushed.message());
  files_.save(*view, manifest);
  log_->cut(manifest.log_position);
  lock.lock();
  saved_position_ = manifest.log_position;
  unsaved_ = false;
}

/// False when `give_up` ended it.
bool Collection::wait_until(Lock& lock, const std::function<bool()>& done, const GiveUp& give_up) {
  // One that is under way may have met what has gone by now.
  const std::uint64_t asked = asked_attempt_ = attempts_ + 1;
  work_.notify_all();
  const auto over = [&] {
    return done() || failed_attempt_ >= asked || stop_.load(std::memory_order_relaxed);
  };
  if (!give_up) progress_.wait(lock, over);
  while (!over()) {
    lock.unlock();
    const bool given_up = give_up();
    lock.lock();
    if (given_up && !over()) return false;
    progress_.wait_for(lock, kGiveUpPause, over);
  }
  if (!done()) throw Error("collection '{}': {}", folder_.string(), failure_);
  return true;
}

bool Collection::flush(const GiveUp& give_up) {
  Lock lock(mutex_);
  const auto may_freeze = [&] {
    return !contents_.holds_rows() || contents_.frozen() < access_.most_frozen;
  };
  if (!wait_until(lock, may_freeze, give_up)) return false;
  if (contents_.holds_rows()) contents_.rotate(log_->end());
  const std::vector<std::shared_ptr<Memtable>> all = contents_.memtables();
  const Memtable* const last = all.size() < 2 ? nullptr : all[all.size() - 2].get();
  const auto saved = [&] {
    const auto& memtables = contents_.current()->memtables;
    return !unsaved_ && std::none_of(memtables.begin(), memtables.end(), [&](const auto& fresh) {
      return fresh.memtable.get() == last;
    });
  };
  return wait_until(lock, saved, give_up);
}

bool Collection::compact(const GiveUp& give_up) {
  if (!flush(give_up)) return false;
  Lock lock(mutex_);
  // Segments that inserts make meanwhile are not waited for.
  const std::uint64_t below = compact_below_ = next_segment_;
  const auto compacted = [&] {
    return !unsaved_ && segments_to_compact(*contents_.current()).empty();
  };
  if (!wait_until(lock, compacted, give_up)) return false;
  if (compact_below_ == below) compact_below_ = 0;
  return true;
}

void Collection::settle() {
  Lock lock(mutex_);
  wait_until(lock, [this] { return next_job() == Job::none; });
}

}  // namespace farvec::collection
