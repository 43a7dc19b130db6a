#include "python/core_pool.h"

#include <utility>

#include "base/status_error.h"

namespace farvec::python {

CorePool::CorePool(std::function<CorePointer()> make, std::uint32_t most)
    : make_(std::move(make)), most_(most), unmade_(most) {}

CorePool::Loan CorePool::borrow(std::uint32_t wanted, std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  const auto any = [&] { return !free_.empty() || unmade_ > 0; };
  if (!returned_.wait_until(lock, until, any)) {
    throw StatusError(StatusCode::deadline_exceeded,
                      "waited for one of {} cores, which other calls search with: open with more "
                      "concurrency, or give the call more time",
                      most_);
  }
  std::vector<CorePointer> cores;
  while (cores.size() < wanted && !free_.empty()) {
    cores.push_back(std::move(free_.back()));
    free_.pop_back();
  }
  try {
    for (; cores.size() < wanted && unmade_ > 0; --unmade_) cores.push_back(make_());
  } catch (...) {
    for (CorePointer& core : cores) free_.push_back(std::move(core));
    throw;
  }
  return {*this, std::move(cores)};
}

void CorePool::give_back(std::vector<CorePointer>& cores) {
  {
    const std::lock_guard lock(mutex_);
    for (CorePointer& core : cores) free_.push_back(std::move(core));
  }
  returned_.notify_all();
}

}  // namespace farvec::python
