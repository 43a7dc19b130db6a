#include "ssd_baseline/paged/cores/counted_work.h"

#include <utility>

namespace farvec::paged {

bool CountedWork::has_more() const {
  const std::lock_guard lock(mutex_);
  return !stopped_ && next_ < count_;
}

bool CountedWork::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_locked();
}

bool CountedWork::wait(std::chrono::milliseconds most) const {
  std::unique_lock lock(mutex_);
  return finished_.wait_for(lock, most, [this] { return finished_locked(); });
}

void CountedWork::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  leave(lock);
}

void CountedWork::step(ChangeHands& hands) {
  const std::optional<std::size_t> i = begin();
  if (!i) return;
  try {
    operation_(hands, *i);
    end(hands, nullptr);
  } catch (...) {
    end(hands, std::current_exception());
  }
}

/// Returns the next operation; none when all have begun, one has failed, or the call was
/// interrupted.
std::optional<std::size_t> CountedWork::begin() {
  std::unique_lock lock(mutex_);
  if (stopped_ || next_ == count_) return std::nullopt;
  ++active_;  // what the caller gave lives until this operation has ended
  const std::size_t i = next_++;
  lock.unlock();
  if (!asked_to_end(manner_.interrupted)) return i;
  lock.lock();
  stopped_ = true;
  --active_;
  leave(lock);
  return std::nullopt;
}

void CountedWork::end(ChangeHands& hands, std::exception_ptr error) {
  if (!error && manner_.advanced) manner_.advanced(1);
  const ChangeCounts counts = hands.take_counts();
  std::unique_lock lock(mutex_);
  counts_ += counts;
  if (!error) ++done_;
  if (error) stopped_ = true;
  if (error && !error_) error_ = std::move(error);
  --active_;
  leave(lock);
}

/// The caller may go, and what it gave with it, as soon as the lock is released.
void CountedWork::leave(std::unique_lock<std::mutex>& lock) {
  if (finished_locked()) finished_.notify_all();
  lock.unlock();
}

}  // namespace farvec::paged
