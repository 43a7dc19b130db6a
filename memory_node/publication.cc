#include "memory_node/publication.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace farvec::memory_node {

ReadPath* Publication::find_path(v1::Transport transport) const {
  for (const auto& path : paths) {
    if (path->transport() == transport) return path.get();
  }
  return nullptr;
}

void Publications::publish(std::shared_ptr<const Publication> publication) {
  const std::lock_guard lock(mutex_);
  if (current_ != nullptr) replaced_.push_back(std::move(current_));
  current_ = std::move(publication);
  ++published_;
}

std::shared_ptr<const Publication> Publications::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::uint32_t Publications::free_slot() const {
  const std::lock_guard lock(mutex_);
  const auto taken = [this](std::uint32_t slot) {
    return (current_ != nullptr && current_->slot == slot) ||
           std::any_of(replaced_.begin(), replaced_.end(),
                       [slot](const auto& other) { return other->slot == slot; });
  };
  std::uint32_t slot = 0;
  while (taken(slot)) ++slot;  // at most one more than there are tables
  return slot;
}

void Publications::collect() {
  std::vector<std::shared_ptr<const Publication>> unread;
  {
    const std::lock_guard lock(mutex_);
    // A replaced publication is handed out by its holders only: once there are none but this list,
    // there will be none.
    const auto begin =
        std::stable_partition(replaced_.begin(), replaced_.end(),
                              [](const auto& publication) { return publication.use_count() > 1; });
    unread.assign(std::make_move_iterator(begin), std::make_move_iterator(replaced_.end()));
    replaced_.erase(begin, replaced_.end());
  }
  for (const auto& publication : unread) {
    spdlog::info("generation {} is read by nobody any more: {} bytes are freed",
                 publication->table->generation, publication->table->total_bytes());
  }
}

Publications::Usage Publications::usage() const {
  const std::lock_guard lock(mutex_);
  Usage usage;
  usage.published = published_;
  usage.tables = replaced_.size() + (current_ != nullptr ? 1 : 0);
  if (current_ != nullptr) usage.bytes += current_->table->total_bytes();
  for (const auto& publication : replaced_) usage.bytes += publication->table->total_bytes();
  return usage;
}

}  // namespace farvec::memory_node
