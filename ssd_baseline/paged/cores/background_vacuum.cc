#include "ssd_baseline/paged/cores/background_vacuum.h"

#include <chrono>
#include <exception>

#include "base/status_error.h"

namespace farvec::paged {
namespace {

/// A caller looks this often whether it is to give up.
constexpr std::chrono::milliseconds kLookPause{10};

}  // namespace

BackgroundVacuum::~BackgroundVacuum() {
  stop();
  if (worker_.joinable()) worker_.join();
}

bool BackgroundVacuum::run(const Interruption& give_up) {
  std::unique_lock lock(mutex_);
  if (!state_.runs) {
    if (worker_.joinable()) worker_.join();  // it has ended: it no longer takes the mutex
    state_.runs = true;
    state_.failure.clear();
    worker_ = std::thread([this] { work(); });
  }
  while (!ended_.wait_for(lock, kLookPause, [this] { return !state_.runs; })) {
    if (asked_to_end(give_up)) return false;
  }
  if (!state_.failure.empty()) throw StatusError(code_, "{}", state_.failure);
  return true;
}

VacuumState BackgroundVacuum::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void BackgroundVacuum::work() {
  HnswCrewOptions crew = crew_;
  crew.interrupted = [this] { return stopping_.load(std::memory_order_relaxed); };
  std::uint64_t removed = 0;
  std::string failure;
  StatusCode code = StatusCode::ok;
  try {
    removed = HnswCrew(hnsw_, std::move(crew)).vacuum().vacuum.removed;
  } catch (const StatusError& error) {
    failure = error.what();
    code = error.code;
  } catch (const std::exception& error) {
    failure = error.what();
    code = StatusCode::internal;
  }
  const std::lock_guard lock(mutex_);
  state_.runs = false;
  state_.removed += removed;
  state_.failure = failure;
  code_ = code;
  ended_.notify_all();
}

}  // namespace farvec::paged
