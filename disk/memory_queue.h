// A block queue over memory: what searches of a disk compute, without the disk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "disk/block_queue.h"

namespace farvec::disk {

/// Every read is done when it is submitted, by a copy.
class MemoryQueue final : public BlockQueue {
 public:
  /// `bytes` are what file 0 of `files` holds; the file itself says how reads are aligned and is
  /// never read. The bytes must outlive the queue.
  MemoryQueue(DiskFiles files, std::span<const std::byte> bytes, std::uint32_t capacity)
      : files_(std::move(files)), bytes_(bytes), capacity_(capacity) {}

  const DiskFiles& files() const override { return files_; }
  std::uint32_t capacity() const override { return capacity_; }
  void register_memory(std::span<std::byte>) override {}
  /// Whatever is no read of the first file ends with EBADF.
  void submit(std::span<const BlockRequest> requests) override;
  /// All of them are done.
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
