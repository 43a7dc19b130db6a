#include "disk/load_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace farvec::disk {
namespace {

constexpr std::size_t kPolledAtOnce = 64;
constexpr Ticks kNoDeadline = std::numeric_limits<Ticks>::max();

Status status_of(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return {};
    case StatusCode::data_loss:
      return {code, "the disk could not read a block, or the file became shorter"};
    case StatusCode::deadline_exceeded:
      return {code, "the disk did not answer in time"};
    case StatusCode::unavailable:
      return {code, "the disk is gone"};
    default:
      return {code, "a read of the disk failed"};
  }
}

}  // namespace

void Load::remember(Waiter& waiter) {
  waiter.next = std::exchange(waiters_, &waiter);
}

/// Removes a waiter that gives up from the list.
void Load::forget(const Waiter& waiter) {
  Waiter** link = &waiters_;
  while (*link != &waiter) link = &(*link)->next;
  *link = waiter.next;
}

LoadQueue::LoadQueue(std::unique_ptr<DiskEngine> engine, coroutines::Scheduler& scheduler,
                     LoadQueueOptions options)
    : engine_(std::move(engine)),
      scheduler_(scheduler),
      options_(options),
      earliest_deadline_(kNoDeadline),
      posted_(engine_->max_outstanding(), nullptr) {
  for (auto token = engine_->max_outstanding(); token > 0; --token) unused_.push_back(token - 1);
  requests_.reserve(posted_.size());
}

LoadQueue::~LoadQueue() {
  close();
}

Status LoadQueue::start(std::span<Load* const> loads) {
  if (engine_->closed()) return {StatusCode::unavailable, "the disk engine was closed"};
  if (loads.size() > room()) {
    return {StatusCode::resource_exhausted, "too many loads wait for the disk"};
  }
  for (const Load* load : loads) {
    FARVEC_CHECK(!load->destination_out_, "a load is started again before it has come back");
    if (Status status = engine_->check(load->read); !status.ok()) return status;
  }
  for (Load* load : loads) append(*load);
  if (waiting_ >= options_.batch) submit_waiting();
  return {};
}

void LoadQueue::append(Load& load) {
  load.going_ = true;
  load.destination_out_ = true;
  load.next_ = nullptr;
  (first_ == nullptr ? first_ : last_->next_) = &load;
  last_ = &load;
  ++waiting_;
  earliest_deadline_ = std::min(earliest_deadline_, load.read.deadline);
}

std::uint32_t LoadQueue::submit_waiting() {
  // Tokens of completions that poll() has not looked at yet are still in use.
  const std::size_t room = std::min<std::size_t>(engine_->room(), unused_.size());
  requests_.clear();
  while (first_ != nullptr && requests_.size() < room) {
    Load& load = *std::exchange(first_, first_->next_);
    --waiting_;
    load.read.token = unused_.back();
    unused_.pop_back();
    posted_[load.read.token] = &load;
    requests_.push_back(load.read);
  }
  if (first_ == nullptr) earliest_deadline_ = kNoDeadline;
  if (requests_.empty()) return 0;
  const Status status = engine_->post(requests_);
  FARVEC_CHECK(status.ok(), "{}", status.message());  // start() has checked all of them
  return static_cast<std::uint32_t>(requests_.size());
}

bool LoadQueue::poll() {
  DiskCompletion completions[kPolledAtOnce];
  const std::size_t count = engine_->poll(completions);
  for (std::size_t i = 0; i < count; ++i) take(completions[i]);
  if (waiting_ == 0) return count > 0;
  const bool expired = end_expired();
  return submit_waiting() > 0 || expired || count > 0;
}

void LoadQueue::take(const DiskCompletion& completion) {
  Load& load = *posted_[completion.token];
  load.destination_out_ = !completion.returned;
  if (completion.returned) {
    posted_[completion.token] = nullptr;
    unused_.push_back(static_cast<std::uint32_t>(completion.token));
  }
  tell(load, completion.status, completion.bytes);
}

/// Tells the outcome of a load. When that was a deadline it has been told before, and this call
/// tells that the destination has come back.
void LoadQueue::tell(Load& load, StatusCode code, std::uint32_t bytes) {
  if (load.going_) {
    end(load, status_of(code), bytes);
  } else if (load.listener != nullptr) {
    load.listener->load_returned(load);
  }
}

void LoadQueue::end(Load& load, Status status, std::uint32_t bytes) {
  load.going_ = false;
  load.status_ = status;
  load.bytes_ = bytes;
  // Taken out first, because the listener may start the load again.
  Load::Waiter* waiter = std::exchange(load.waiters_, nullptr);
  if (load.listener != nullptr) load.listener->load_ended(load);
  while (waiter != nullptr) {
    Load::Waiter* const next = waiter->next;
    waiter->status = status;
    waiter->waiting = false;
    scheduler_.wake(waiter->fiber);
    waiter = next;
  }
}

// Like DiskEngine::expire(), for loads that never reached the engine.
bool LoadQueue::end_expired() {
  const Ticks now = now_ticks();
  if (now < earliest_deadline_) return false;
  Load* load = std::exchange(first_, nullptr);
  last_ = nullptr;
  waiting_ = 0;
  earliest_deadline_ = kNoDeadline;
  Load* expired = nullptr;
  while (load != nullptr) {
    Load* const next = load->next_;
    if (load->read.deadline <= now) {
      load->next_ = std::exchange(expired, load);
    } else {
      append(*load);
    }
    load = next;
  }
  const bool any = expired != nullptr;
  while (expired != nullptr) {
    Load& late = *std::exchange(expired, expired->next_);
    late.destination_out_ = false;
    end(late, status_of(StatusCode::deadline_exceeded), 0);
  }
  return any;
}

void LoadQueue::close() {
  engine_->close();
  for (Load*& posted : posted_) {
    if (posted == nullptr) continue;
    Load& load = *std::exchange(posted, nullptr);
    load.destination_out_ = false;
    tell(load, StatusCode::unavailable, 0);
  }
  while (first_ != nullptr) {
    Load& load = *std::exchange(first_, first_->next_);
    --waiting_;
    load.destination_out_ = false;
    tell(load, StatusCode::unavailable, 0);
  }
}

}  // namespace farvec::disk
