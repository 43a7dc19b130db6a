#include "disk/faulty_queue.h"

#include <algorithm>
#include <utility>

namespace farvec::disk {

void FaultyQueue::submit(std::span<const BlockRequest> requests) {
  forwarded_.clear();
  for (BlockRequest request : requests) {
    if (fails(request)) continue;
    const std::uint32_t blocks = request.bytes / files()[request.file]->block_bytes();
    if (blocks > 1 && random_.uniform() < faults_.short_rate) {
      request.bytes = blocks / 2 * files()[request.file]->block_bytes();
    }
    const bool reads = request.operation == DiskOperation::read;
    if (reads && random_.uniform() < faults_.flip_rate) out_.push_back(request);
    forwarded_.push_back(request);
  }
  if (!forwarded_.empty()) below_->submit(forwarded_);
}

/// Whether the request touches bad blocks; then it has got its result.
bool FaultyQueue::is_bad(const BlockRequest& request) {
  for (const BadBlocks& bad : faults_.bad_blocks) {
    if (bad.file == request.file && bad.operation == request.operation &&
        request.offset < bad.offset + bad.bytes && bad.offset < request.offset + request.bytes) {
      ready_.push_back({request.id, -bad.error});
      return true;
    }
  }
  return false;
}

/// Whether the request ends here.
bool FaultyQueue::fails(const BlockRequest& request) {
  if (is_bad(request)) return true;
  if (random_.uniform() < faults_.again_rate) {
    ready_.push_back({request.id, -EAGAIN});
    return true;
  }
  const bool writes = request.operation != DiskOperation::read;
  if (writes && random_.uniform() < faults_.write_error_rate) {
    ready_.push_back({request.id, -faults_.write_error});
    return true;
  }
  if (random_.uniform() < faults_.drop_rate) {
    dropped_.push_back(request.id);
    return true;
  }
  return false;
}

void FaultyQueue::cancel(std::span<const std::uint64_t> ids) {
  for (const std::uint64_t id : ids) {
    if (!faults_.cancels || std::erase(dropped_, id) == 0) continue;
    ready_.push_back({id, -ECANCELED});
  }
  below_->cancel(ids);
}

void FaultyQueue::release() {
  for (const std::uint64_t id : std::exchange(dropped_, {})) ready_.push_back({id, -EIO});
}

std::size_t FaultyQueue::reap(std::span<BlockResult> results) {
  std::size_t count = 0;
  for (; count < results.size() && !ready_.empty(); ++count) {
    results[count] = ready_.back();
    ready_.pop_back();
  }
  const std::size_t found = below_->reap(results.subspan(count));
  for (std::size_t i = count; i < count + found; ++i) tamper(results[i]);
  return count + found;
}

void FaultyQueue::tamper(BlockResult& result) {
  const auto read = std::find_if(out_.begin(), out_.end(), [&](const BlockRequest& candidate) {
    return candidate.id == result.id;
  });
  if (read == out_.end()) return;
  if (result.result > 0) {
    const std::uint64_t bit =
        random_.below(std::uint64_t{8} * static_cast<std::uint32_t>(result.result));
    read->memory[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  out_.erase(read);
}

}  // namespace farvec::disk
