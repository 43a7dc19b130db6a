// ReadBuffers are the memory of one core that a disk reads into; CoreBuffers has those of all cores
// whose searches share a budget of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"

namespace farvec::slotted {

/// Has buffers of one size. It belongs to one thread, and indexes that this thread searches may
/// share it: a buffer is some read's from take() to give_back(). Nothing here waits.
class ReadBuffers {
 public:
  /// Throws SystemError when there is not enough memory.
  ReadBuffers(std::uint32_t count, std::size_t bytes_each);
  ReadBuffers(const ReadBuffers&) = delete;
  ReadBuffers& operator=(const ReadBuffers&) = delete;

  std::size_t unused() const { return abandoned_ ? count_ : unused_.size(); }
  /// Returns a buffer of bytes_each; unused() must be above 0. Throws SystemError, only after
  /// abandon().
  std::byte* take();
  void give_back(std::byte* buffer);

  /// Returns all buffers; for registering them with a disk.
  std::span<std::byte> memory() { return memory_.span(); }
  std::size_t dram_bytes() const { return memory_.size(); }

  /// Puts new buffers in the place of all. It is for a disk that was closed and may still write to
  /// some of them: none of the former is taken again. Their memory stays as long as this object,
  /// since other reads go on with buffers that they have taken.
  void abandon() { abandoned_ = true; }

 private:
  void renew();
  void fill();

  const std::uint32_t count_;
  const std::size_t bytes_each_;
  HugeBuffer memory_;
  std::vector<HugeBuffer> former_;
  std::vector<std::byte*> unused_;
  bool abandoned_ = false;  ///< the next take() renews the memory
};

/// Returns the bytes of buffers that count for one of the indexes that share them.
inline std::size_t share_of(const std::shared_ptr<ReadBuffers>& buffers) {
  return buffers->dram_bytes() / static_cast<std::size_t>(std::max(buffers.use_count(), 1L));
}

/// Makes the buffers of a core when the first of its indexes asks for them. They are freed with the
/// last one. Thread-safe.
class CoreBuffers {
 public:
  /// Returns buffers of this size. `core` is any address that is the core's own for as long as its
  /// buffers are in use. The number of buffers is the first caller's.
  std::shared_ptr<ReadBuffers> of(const void* core, std::uint32_t count, std::size_t bytes_each);

 private:
  std::mutex mutex_;  ///< guards the member below
  std::map<std::pair<const void*, std::size_t>, std::weak_ptr<ReadBuffers>> made_;
};

}  // namespace farvec::slotted
