#include "disk/faulty_queue.h"

#include <algorithm>
#include <utility>

namespace farvec::disk {

void FaultyQueue::submit(std::span<const BlockRead> reads) {
  forwarded_.clear();
  for (BlockRead read : reads) {
    if (fails(read)) continue;
    const std::uint32_t blocks = read.bytes / files()[read.file]->block_bytes();
    if (blocks > 1 && random_.uniform() < faults_.short_rate) {
      read.bytes = blocks / 2 * files()[read.file]->block_bytes();
    }
    if (random_.uniform() < faults_.flip_rate) out_.push_back(read);
    forwarded_.push_back(read);
  }
  if (!forwarded_.empty()) below_->submit(forwarded_);
}

/// Whether the read ends here.
bool FaultyQueue::fails(const BlockRead& read) {
  for (const BadBlocks& bad : faults_.bad_blocks) {
    if (bad.file == read.file && read.offset < bad.offset + bad.bytes &&
        bad.offset < read.offset + read.bytes) {
      ready_.push_back({read.id, -bad.error});
      return true;
    }
  }
  if (random_.uniform() < faults_.again_rate) {
    ready_.push_back({read.id, -EAGAIN});
    return true;
  }
  if (random_.uniform() < faults_.drop_rate) {
    dropped_.push_back(read.id);
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
  const auto read = std::find_if(out_.begin(), out_.end(), [&](const BlockRead& candidate) {
    return candidate.id == result.id;
  });
  if (read == out_.end()) return;
  if (result.result > 0) {
    const std::uint64_t bit =
        random_.below(std::uint64_t{8} * static_cast<std::uint32_t>(result.result));
    read->destination[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  out_.erase(read);
}

}  // namespace farvec::disk
