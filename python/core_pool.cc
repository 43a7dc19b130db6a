#include "python/core_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/status_error.h"

namespace farvec::python {

CorePool::CorePool(std::function<CorePointer()> make, std::uint32_t most)
    : make_(std::move(make)), most_(most), unmade_(most) {}

CorePool::Loan CorePool::borrow(std::uint32_t wanted, std::chrono::steady_clock::time_point until) {
  std::vector<CorePointer> cores;
  std::uint32_t to_make = 0;
  {
    std::unique_lock lock(mutex_);
    const auto any = [&] { return !free_.empty() || (unmade_ > 0 && !making_); };
    if (!returned_.wait_until(lock, until, any)) {
      throw StatusError(StatusCode::deadline_exceeded,
                        "waited for one of {} cores, which other calls search with: open with more "
                        "concurrency, or give the call more time",
                        most_);
    }
    while (cores.size() < wanted && !free_.empty()) {
      cores.push_back(std::move(free_.back()));
      free_.pop_back();
    }
    if (!making_) to_make = std::min<std::uint32_t>(wanted - cores.size(), unmade_);
    unmade_ -= to_make;
    making_ = making_ || to_make > 0;
  }
  if (to_make > 0) make(to_make, cores);
  return {*this, std::move(cores)};
}

/// Makes cores without the mutex, so that other calls can borrow what is given back meanwhile, and
/// end at their deadlines.
void CorePool::make(std::uint32_t count, std::vector<CorePointer>& cores) {
  std::exception_ptr failure;
  try {
    for (; count > 0; --count) cores.push_back(make_());
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    making_ = false;
    unmade_ += count;
    if (failure != nullptr) {
      for (CorePointer& core : cores) free_.push_back(std::move(core));
    }
  }
  returned_.notify_all();
  if (failure != nullptr) std::rethrow_exception(failure);
}

void CorePool::give_back(std::vector<CorePointer>& cores) {
  {
    const std::lock_guard lock(mutex_);
    for (CorePointer& core : cores) free_.push_back(std::move(core));
  }
  returned_.notify_all();
}

}  // namespace farvec::python
