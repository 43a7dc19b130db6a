#include "disk/memory_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace farvec::disk {

void MemoryQueue::submit(std::span<const BlockRequest> requests) {
  for (const BlockRequest& request : requests) {
    if (request.file != 0 || request.operation != DiskOperation::read) {
      ready_.push_back({request.id, -EBADF});
      continue;
    }
    const std::uint64_t begin = std::min<std::uint64_t>(request.offset, bytes_.size());
    const std::size_t count = std::min<std::uint64_t>(request.bytes, bytes_.size() - begin);
    if (count > 0) std::memcpy(request.memory, bytes_.data() + begin, count);
    ready_.push_back({request.id, static_cast<std::int32_t>(count)});
  }
}

std::size_t MemoryQueue::reap(std::span<BlockResult> results) {
  const std::size_t count = std::min(results.size(), ready_.size());
  std::copy_n(ready_.begin(), count, results.begin());
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

}  // namespace farvec::disk
