#include "collection/write/background.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>

#include "base/full_disk.h"
#include "base/progress.h"
#include "collection/memtable/yielding.h"

namespace farvec::collection {
namespace {

/// After a failure, for instance of a full disk, the background waits this long before it tries
/// again; it tries at once when a call asks for what failed.
constexpr auto kRetry = std::chrono::seconds(5);
/// A worker that rests looks this often whether that is over.
constexpr auto kRestLook = std::chrono::milliseconds(20);

}  // namespace

Background::Background(const OpenedCollection& opened, Writer& writer, Manifests& manifests)
    : opened_(opened),
      writer_(writer),
      manifests_(manifests),
      monitor_(writer.monitor()),
      build_watch_(monitor_.stop, 0, writer.rest()),
      import_watch_(monitor_.stop, 0),
      merge_watch_(monitor_.stop, opened.access.merge_bytes_per_s, writer.rest()) {
  // This comes last: nothing after it may throw, since only the destructor ends the threads.
  start();
}

Background::~Background() {
  stop();
}

void Background::start() {
  try {
    builder_.thread = std::thread([this] { run(builder_, &Background::next_build); });
    merger_.thread = std::thread([this] { run(merger_, &Background::next_merge); });
  } catch (...) {
    stop();
    throw;
  }
}

void Background::stop() {
  {
    const Lock lock = writer_.lock();
    monitor_.stop.store(true, std::memory_order_relaxed);
  }
  monitor_.work.notify_all();
  monitor_.progress.notify_all();
  for (BackgroundWorker* worker : {&builder_, &merger_}) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void Background::run(BackgroundWorker& worker, Job (Background::*next)() const) {
  yield_to_searches();
  Lock lock = writer_.lock();
  while (!monitor_.stop.load(std::memory_order_relaxed)) {
    // It is looked at before and after the job is decided: neither its end nor its beginning, which
    // need no lock, is missed.
    const bool rested = writer_.rest().lasts();
    const Job job = (this->*next)();
    if (job == Job::none && (rested || writer_.rest().lasts())) {
      monitor_.work.wait_for(lock, kRestLook);
    } else if (job == Job::none) {
      monitor_.work.wait(lock);
    } else if (!worker.may_try()) {
      monitor_.work.wait_until(lock, worker.retry_from);
    } else {
      attempt(lock, worker, job);
    }
  }
}

void Background::attempt(Lock& lock, BackgroundWorker& worker, Job job) {
  ++worker.attempts;
  try {
    work(lock, job);
    if (!lock.owns_lock()) lock.lock();
    worker.failure.clear();
    worker.lacks_disk = false;
    worker.retry_from = {};
  } catch (const WorkInterrupted&) {
    // The job begins again when the collection is opened the next time.
    if (!lock.owns_lock()) lock.lock();
  } catch (const std::exception& error) {
    if (!lock.owns_lock()) lock.lock();
    note_failure(worker, error);
  }
  monitor_.progress.notify_all();
  // One worker's end may be another's job.
  monitor_.work.notify_all();
}

void Background::note_failure(BackgroundWorker& worker, const std::exception& error) {
  worker.failure = error.what();
  worker.lacks_disk = is_full_disk(error);
  worker.failed_attempt = worker.attempts;
  worker.retry_from = std::chrono::steady_clock::now() + kRetry;
  ++counts_.failures;
  spdlog::error("collection '{}': a segment could not be built, tried again in {} s: {}",
                opened_.folder.string(), kRetry.count(), error.what());
}

/// The builder's failures are told first.
std::string Background::failure() const {
  if (next_build() != Job::none && !builder_.failure.empty()) return builder_.failure;
  return next_merge() != Job::none ? merger_.failure : std::string();
}

}  // namespace farvec::collection
