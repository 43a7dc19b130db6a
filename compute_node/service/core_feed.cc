#include "compute_node/service/core_feed.h"

#include <chrono>
#include <utility>

namespace farvec::compute_node {
namespace {
constexpr std::chrono::milliseconds kIdleWait{2};
constexpr Status kExpired{StatusCode::deadline_exceeded,
                          "the deadline passed before the search began"};
constexpr Status kTooLittleTime{StatusCode::deadline_exceeded,
                                "too little time was left for the search when its turn came"};
constexpr Status kCancelled{StatusCode::cancelled, "the caller gave up before the search began"};
}  // namespace

// The budget only counts. Nothing is published through it, so every order is relaxed.
bool AdmissionBudget::try_take(std::uint32_t count) {
  std::uint32_t taken = taken_.load(std::memory_order_relaxed);
  do {
    if (count > limit_ || taken > limit_ - count) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + count, std::memory_order_relaxed));
  return true;
}

void AdmissionBudget::give(std::uint32_t count) {
  taken_.fetch_sub(count, std::memory_order_relaxed);
}

std::uint32_t AdmissionBudget::taken() const {
  return taken_.load(std::memory_order_relaxed);
}

void CoreFeed::push(QueuedTask& task) {
  bool wake = false;
  Status refused;
  work_.fetch_add(task.work, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    refused = reason_;
    if (refused.ok()) {
      task.next = nullptr;
      (first_ == nullptr ? first_ : last_->next) = &task;
      last_ = &task;
      waiting_.fetch_add(1, std::memory_order_relaxed);  // a hint; the lock publishes the task
      wake = std::exchange(sleeping_, false);
    }
  }
  if (wake) pushed_.notify_one();
  if (!refused.ok()) {
    budget_.give(1);
    end(task, refused);
  }
}

void CoreFeed::close(Status reason) {
  QueuedTask* task;
  {
    const std::lock_guard lock(mutex_);
    if (reason_.ok()) reason_ = reason;
    task = std::exchange(first_, nullptr);
    waiting_.store(0, std::memory_order_relaxed);
    closed_.store(true, std::memory_order_release);  // pairs with finished()
    sleeping_ = false;
  }
  pushed_.notify_one();
  while (task != nullptr) {
    QueuedTask& ended = *std::exchange(task, task->next);
    budget_.give(1);
    end(ended, reason);
  }
}

void CoreFeed::expire(Ticks now) {
  QueuedTask* expired = nullptr;
  {
    const std::lock_guard lock(mutex_);
    QueuedTask* previous = nullptr;
    for (QueuedTask *task = first_, *following; task != nullptr; task = following) {
      following = task->next;
      if (task->request.deadline > now) {
        previous = task;
        continue;
      }
      (previous == nullptr ? first_ : previous->next) = following;
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      task->next = std::exchange(expired, task);
    }
    last_ = previous;
  }
  while (expired != nullptr) {
    QueuedTask& ended = *std::exchange(expired, expired->next);
    budget_.give(1);
    end_expired(ended, kExpired);
  }
}

std::uint32_t CoreFeed::load() const {
  return waiting_.load(std::memory_order_relaxed) + running();
}

std::uint32_t CoreFeed::running() const {
  return running_.load(std::memory_order_relaxed);
}

bool CoreFeed::empty() const {
  const std::lock_guard lock(mutex_);
  return first_ == nullptr && running() == 0;
}

QueuedTask* CoreFeed::pop() {
  // A task that is missed here is found on the next turn, so that an empty queue needs no lock.
  if (waiting_.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) return nullptr;
  QueuedTask* task = first_;
  first_ = task->next;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  running_.fetch_add(1, std::memory_order_relaxed);
  return task;
}

search::SearchTask* CoreFeed::next() {
  // Relaxed: it is the core's own earlier store; the check saves later calls the write.
  if (!asked_.load(std::memory_order_relaxed)) asked_.store(true, std::memory_order_release);
  // It is bounded by the admission budget: each turn takes one task out.
  while (QueuedTask* task = pop()) {
    budget_.give(1);
    const Ticks now = now_ticks();
    const Status refused = check(*task, now);
    if (refused.ok()) {
      rate_.took(now);
      link_live(*task);
      running_work_ += task->work;
      return task;
    }
    running_.fetch_sub(1, std::memory_order_relaxed);
    if (refused.code() == StatusCode::deadline_exceeded) {
      end_expired(*task, refused);
    } else {
      end(*task, refused);
    }
  }
  rate_.ran_dry();
  return nullptr;
}

Status CoreFeed::check(const QueuedTask& task, Ticks now) const {
  if (task.batch->cancelled()) return kCancelled;
  if (task.request.deadline <= now) return kExpired;
  const bool in_time =
      ends_in_time(rate_, running_work_, task.work, task.request.deadline - now, now);
  return in_time ? Status() : kTooLittleTime;
}

bool CoreFeed::finished() {
  return closed_.load(std::memory_order_acquire);
}

void CoreFeed::done(search::SearchTask& task) {
  auto& ended = static_cast<QueuedTask&>(task);
  running_work_ -= ended.work;
  // A search that fails for another reason than its deadline says nothing about the time of a
  // search.
  if (task.answer.status.ok() || task.answer.status.code() == StatusCode::deadline_exceeded) {
    rate_.ended(ended.work, running(), task.clock.started, task.clock.finished);
  } else {
    rate_.ran_dry();
  }
  running_.fetch_sub(1, std::memory_order_relaxed);
  unlink_live(ended);
  complete(ended);
}

void CoreFeed::end_abandoned(Status reason) {
  while (live_ != nullptr) {
    QueuedTask& task = *live_;
    unlink_live(task);
    running_.fetch_sub(1, std::memory_order_relaxed);
    running_work_ -= task.work;
    end(task, reason);
  }
}

void CoreFeed::link_live(QueuedTask& task) {
  task.previous = nullptr;
  task.next = live_;
  if (live_ != nullptr) live_->previous = &task;
  live_ = &task;
}

void CoreFeed::unlink_live(QueuedTask& task) {
  (task.previous == nullptr ? live_ : task.previous->next) = task.next;
  if (task.next != nullptr) task.next->previous = task.previous;
}

void CoreFeed::idle() {
  std::unique_lock lock(mutex_);
  if (first_ != nullptr || closed_.load(std::memory_order_relaxed)) return;
  sleeping_ = true;
  pushed_.wait_for(lock, kIdleWait, [this] { return !sleeping_; });
  sleeping_ = false;
}

void CoreFeed::end(QueuedTask& task, Status status) {
  task.answer.status = status;
  task.clock.started = task.clock.finished = now_ticks();
  complete(task);
}

void CoreFeed::end_expired(QueuedTask& task, Status status) {
  task.expired_waiting = true;
  end(task, status);
}

void CoreFeed::complete(QueuedTask& task) {
  work_.fetch_sub(task.work, std::memory_order_relaxed);
  Batch* batch = task.batch;
  if (batch->finish_one()) replier_.push(batch);
}

}  // namespace farvec::compute_node
