#include "compute_node/service/replier.h"

#include <utility>

namespace farvec::compute_node {

Replier::Replier() : thread_([this] { run(); }) {}

Replier::~Replier() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_one();
  thread_.join();
}

void Replier::push(Batch* batch) {
  bool was_empty;
  {
    const std::lock_guard lock(mutex_);
    was_empty = first_ == nullptr;
    (was_empty ? first_ : last_->next_answered_) = batch;
    last_ = batch;
  }
  if (was_empty) ready_.notify_one();
}

void Replier::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return stopping_ || first_ != nullptr; });
    if (first_ == nullptr) return;
    Batch* batch = std::exchange(first_, nullptr);
    lock.unlock();
    while (batch != nullptr) {
      const std::unique_ptr<Batch> owned(batch);
      batch = owned->next_answered_;
      owned->answer(*owned);
    }
    lock.lock();
  }
}

}  // namespace farvec::compute_node
