#include "ssd_baseline/paged/cores/shared_work.h"

#include <utility>

namespace farvec::paged {

void WorkQueue::add(std::shared_ptr<SharedWork> work) {
  const std::lock_guard lock(mutex_);
  std::erase_if(works_, [](const auto& one) { return !one->has_more(); });
  works_.push_back(std::move(work));
  size_.store(works_.size(), std::memory_order_relaxed);
}

std::shared_ptr<SharedWork> WorkQueue::next() {
  if (!any()) return nullptr;
  const std::lock_guard lock(mutex_);
  while (!works_.empty()) {
    std::shared_ptr<SharedWork> work = std::move(works_.front());
    works_.pop_front();
    const bool more = work->has_more();
    if (more) works_.push_back(work);
    size_.store(works_.size(), std::memory_order_relaxed);
    if (more) return work;
  }
  return nullptr;
}

}  // namespace farvec::paged
