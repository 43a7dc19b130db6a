#include "ssd_baseline/slotted/pool/read_buffers.h"

#include <functional>
#include <utility>

#include "base/check.h"

namespace farvec::slotted {

ReadBuffers::ReadBuffers(std::uint32_t count, std::size_t bytes_each)
    : count_(count), bytes_each_(bytes_each), memory_(count * bytes_each) {
  FARVEC_CHECK(count > 0 && bytes_each > 0);
  unused_.reserve(count);
  fill();
}

void ReadBuffers::fill() {
  unused_.clear();
  for (std::uint32_t i = count_; i > 0; --i) {
    unused_.push_back(memory_.data() + (i - 1) * bytes_each_);
  }
}

std::byte* ReadBuffers::take() {
  if (abandoned_) renew();
  FARVEC_CHECK(!unused_.empty());
  std::byte* const buffer = unused_.back();
  unused_.pop_back();
  return buffer;
}

/// A buffer of memory that was abandoned meanwhile is not used again.
void ReadBuffers::give_back(std::byte* buffer) {
  const std::less<> before;
  if (abandoned_) return;
  if (before(buffer, memory_.data()) || !before(buffer, memory_.data() + memory_.size())) return;
  unused_.push_back(buffer);
}

void ReadBuffers::renew() {
  former_.push_back(HugeBuffer(memory_.size()));
  std::swap(former_.back(), memory_);
  abandoned_ = false;
  fill();
}

std::shared_ptr<ReadBuffers> CoreBuffers::of(const void* core, std::uint32_t count,
                                             std::size_t bytes_each) {
  const std::lock_guard lock(mutex_);
  std::erase_if(made_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ReadBuffers>& made = made_[{core, bytes_each}];
  std::shared_ptr<ReadBuffers> buffers = made.lock();
  if (buffers == nullptr) made = buffers = std::make_shared<ReadBuffers>(count, bytes_each);
  return buffers;
}

}  // namespace farvec::slotted
