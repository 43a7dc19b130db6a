// A MemoryQueue is a block queue over memory: with it, searches of a disk do their computing
// without the disk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "disk/block_queue.h"

namespace farvec::disk {

/// A copy completes every read when it is submitted.
class MemoryQueue final : public BlockQueue {
 public:
  /// `bytes` are the contents of file 0 of `files`; the file itself only says how reads are aligned
  /// and is never read. The bytes must outlive the queue.
  MemoryQueue(DiskFiles files, std::span<const std::byte> bytes, std::uint32_t capacity)
      : files_(std::move(files)), bytes_(bytes), capacity_(capacity) {}

  const DiskFiles& files() const override { return files_; }
  std::uint32_t capacity() const override { return capacity_; }
  void register_memory(std::span<std::byte>) override {}
  /// A request that is not a read of the first file ends with EBADF.
  void submit(std::span<const BlockRequest> requests) override;
  /// Does nothing, because all requests are done.
  void cancel(std::span<const std::uint64_t>) override {}
  std::size_t reap(std::span<BlockResult> results) override;
  std::string description() const override { return "memory"; }

 private:
  const DiskFiles files_;
  const std::span<const std::byte> bytes_;
  const std::uint32_t capacity_;
  std::vector<BlockResult> ready_;  ///< at most capacity_
};

}  // namespace farvec::disk
