// These functions wait for what a collection's background does.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/error.h"
#include "collection/write/collection.h"
#include "collection/write/unlocked.h"

namespace farvec::collection {
namespace {

/// A call that waits asks this often whether it is to give up.
constexpr auto kInterruptionPause = std::chrono::milliseconds(20);

}  // namespace

/// Waits for done(). Returns false when `give_up` ended the wait. Throws Error when an attempt of
/// one of the workers that begins from now on fails.
bool Collection::wait_until(Lock& lock, Workers workers, const std::function<bool()>& done,
                            const Interruption& give_up) {
  std::vector<std::pair<const BackgroundWorker*, std::uint64_t>> asked;
  for (BackgroundWorker* worker : workers) asked.emplace_back(worker, worker->ask());
  work_.notify_all();
  const auto failed = [&]() -> const BackgroundWorker* {
    for (const auto& [worker, attempt] : asked) {
      if (worker->failed_attempt >= attempt) return worker;
    }
    return nullptr;
  };
  const auto over = [&] {
    return done() || failed() != nullptr || stop_.load(std::memory_order_relaxed);
  };
  if (!give_up) progress_.wait(lock, over);
  while (!over()) {
    const bool given_up = [&] {
      const Unlocked unlocked(lock);
      return give_up();
    }();
    if (given_up && !over()) return false;
    progress_.wait_for(lock, kInterruptionPause, over);
  }
  if (done()) return true;
  const BackgroundWorker* const worker = failed();
  throw Error("collection '{}': {}", folder_.string(),
              worker != nullptr ? worker->failure : "it is being closed");
}

Receipt Collection::import(const VectorView& rows, std::span<const std::uint64_t> ids) {
  if (rows.count == 0) return {};
  Lock lock(mutex_);
  const SegmentRecipe recipe = recipe_of(next_segment_++, import_watch_, access_.build_threads);
  lock.unlock();
  std::shared_ptr<Segment> segment;
  {
    const WatchedBuild watched(import_watch_, 1, rows.count);
    segment = build_segment(rows, ids, recipe);
    load(segment.get(), import_watch_);
  }
  lock.lock();
  wait_until(lock, {&builder_}, [this] { return !importing_; });
  Receipt receipt;
  receipt.done = rows.count;
  importing_ = true;
  imported_ = std::move(segment);
  import_replaced_ = &receipt.replaced;
  try {
    wait_until(lock, {&builder_}, [this] { return imported_ == nullptr && is_saved(); });
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

bool Collection::flush(const Interruption& give_up) {
  Lock lock(mutex_);
  const auto may_freeze = [&] {
    return !contents_.holds_rows() || contents_.frozen() < access_.most_frozen;
  };
  if (!wait_until(lock, {&builder_}, may_freeze, give_up)) return false;
  if (contents_.holds_rows()) contents_.rotate(log_->end());
  const std::vector<std::shared_ptr<Memtable>> all = contents_.memtables();
  const Memtable* const last = all.size() < 2 ? nullptr : all[all.size() - 2].get();
  const auto saved = [&] {
    const auto& memtables = contents_.current()->memtables;
    return is_saved() && std::none_of(memtables.begin(), memtables.end(), [&](const auto& fresh) {
             return fresh.memtable.get() == last;
           });
  };
  return wait_until(lock, {&builder_}, saved, give_up);
}

bool Collection::compact(const Interruption& give_up) {
  if (!flush(give_up)) return false;
  Lock lock(mutex_);
  // This does not wait for segments that inserts make meanwhile.
  const std::uint64_t below = compact_below_ = next_segment_;
  const auto compacted = [&] {
    return is_saved() && segments_to_compact(*contents_.current()).empty();
  };
  if (!wait_until(lock, {&builder_, &merger_}, compacted, give_up)) return false;
  if (compact_below_ == below) compact_below_ = 0;
  return true;
}

void Collection::settle() {
  Lock lock(mutex_);
  wait_until(lock, {&builder_, &merger_},
             [this] { return next_build() == Job::none && next_merge() == Job::none; });
}

/// Returns why a job fails again and again; empty for a job that is done, or that need not be done
/// any more.
std::string Collection::background_failure() const {
  if (next_build() != Job::none && !builder_.failure.empty()) return builder_.failure;
  return next_merge() != Job::none ? merger_.failure : std::string();
}

}  // namespace farvec::collection
