#include "client/c/worker.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/status_error.h"
#include "client/c/session.h"

namespace farvec::c {
namespace {

/// Time between two questions to a caller whether it has been interrupted.
constexpr std::chrono::milliseconds kAsk{10};
/// A call that meets its deadline has this time to say so in its own words.
constexpr std::chrono::milliseconds kGrace{200};

/// Blocks all signals in this thread while it lives. Threads that are made meanwhile begin so.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

/// What a caller throws here is an interruption: it was to return.
bool has_interrupted(const Wait& wait) noexcept {
  try {
    return wait.interrupted != nullptr && wait.interrupted(wait.context) != 0;
  } catch (...) {
    return true;
  }
}

[[noreturn]] void throw_interrupted() {
  throw StatusError(StatusCode::cancelled, "the caller interrupted the call");
}

std::exception_ptr closed_error() {
  return std::make_exception_ptr(StatusError(StatusCode::cancelled, "the connection was closed"));
}

}  // namespace

struct Worker::Job {
  Job(Work made, Clock::time_point end) : work(std::move(made)), until(end) {}

  const Work work;
  const Clock::time_point until;
  // The rest is guarded by the worker's mutex.
  std::exception_ptr thrown = {};
  bool done = false;
  bool left = false;  ///< no caller waits for it
  std::condition_variable over = {};

  void finish(std::exception_ptr why) {
    thrown = std::move(why);
    done = true;
    over.notify_all();
  }
};

std::chrono::milliseconds Turn::left() const {
  const auto time = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return std::max(time, std::chrono::milliseconds(1));
}

Interruption Turn::interruption() const {
  return [&flag = cancelled] { return flag.load(std::memory_order_relaxed); };
}

Worker::Worker() : process_(getpid()) {}

std::shared_ptr<Worker> Worker::start() {
  const std::shared_ptr<Worker> worker(new Worker);
  const BlockedSignals blocked;
  std::thread([worker] { worker->serve(); }).detach();
  return worker;
}

void Worker::serve() {
  std::unique_ptr<Session> session;
  std::unique_lock lock(mutex_);
  for (;;) {
    come_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (closing_) break;
    running_ = std::move(queue_.front());
    queue_.pop_front();
    cancelled_.store(false, std::memory_order_relaxed);
    lock.unlock();
    make(*running_, session);
    lock.lock();
    running_.reset();
  }
  for (const auto& job : queue_) job->finish(closed_error());
  queue_.clear();
  lock.unlock();
  session.reset();
  lock.lock();
  ended_ = true;
  gone_.notify_all();
}

void Worker::make(Job& job, std::unique_ptr<Session>& session) {
  std::exception_ptr thrown;
  try {
    job.work.make(session, {job.until, cancelled_});
  } catch (...) {
    thrown = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  job.finish(thrown);
  const bool undo = job.left && !thrown && job.work.undo;
  lock.unlock();
  if (undo) job.work.undo();
}

void Worker::require_this_process() const {
  const pid_t now = getpid();
  if (now == process_) return;
  throw StatusError(StatusCode::failed_precondition,
                    "process {} made this connection, and process {} came from it by fork(): only "
                    "the former may use it",
                    process_, now);
}

void Worker::run(const Wait& wait, Work work) {
  require_this_process();
  if (has_interrupted(wait)) throw_interrupted();
  const auto job = std::make_shared<Job>(std::move(work), Clock::now() + wait.deadline);
  enqueue(job);
  await(job, wait);
  if (job->thrown) std::rethrow_exception(job->thrown);
}

void Worker::enqueue(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  if (closing_) {
    throw StatusError(StatusCode::failed_precondition, "the connection was closed");
  }
  if (queue_.size() >= kMostWaiting) {
    throw StatusError(StatusCode::resource_exhausted,
                      "{} calls wait for this connection: make more connections", kMostWaiting);
  }
  queue_.push_back(job);
  come_.notify_one();
}

void Worker::await(const std::shared_ptr<Job>& job, const Wait& wait) {
  const auto end = job->until + kGrace;
  std::unique_lock lock(mutex_);
  while (!job->done) {
    const auto now = Clock::now();
    if (now >= end) {
      leave(job);
      throw StatusError(StatusCode::deadline_exceeded, "no answer came within {} ms",
                        wait.deadline.count());
    }
    job->over.wait_until(lock, wait.interrupted == nullptr ? end : std::min(end, now + kAsk));
    if (job->done || wait.interrupted == nullptr) continue;
    lock.unlock();
    const bool interrupted = has_interrupted(wait);
    lock.lock();
    if (!interrupted || job->done) continue;
    leave(job);
    throw_interrupted();
  }
}

/// Marks a job that no caller waits for any more. The caller has locked mutex_.
void Worker::leave(const std::shared_ptr<Job>& job) {
  job->left = true;
  if (running_ == job) cancelled_.store(true, std::memory_order_relaxed);
  std::erase(queue_, job);
}

void Worker::close(std::chrono::milliseconds patience) {
  if (getpid() != process_) return;
  std::unique_lock lock(mutex_);
  closing_ = true;
  cancelled_.store(true, std::memory_order_relaxed);
  come_.notify_all();
  gone_.wait_for(lock, patience, [this] { return ended_; });
}

}  // namespace farvec::c
