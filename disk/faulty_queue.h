// A FaultyQueue fails on demand, in the same way for the same seed, to test the code above it.
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "disk/block_queue.h"

namespace farvec::disk {

/// BadBlocks are bytes of a file that cannot be read or written.
struct BadBlocks {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int32_t error = EIO;
  DiskOperation operation = DiskOperation::read;  ///< the operation that fails
};

/// Rates are probabilities per submitted request in [0, 1].
struct DiskFaults {
  std::uint64_t seed = 1;
  double short_rate = 0;        ///< only half of its blocks; a request of one block is never short
  double again_rate = 0;        ///< ends with EAGAIN
  double flip_rate = 0;         ///< a read has one bit flipped
  double drop_rate = 0;         ///< has no result until it is cancelled or release()d
  double write_error_rate = 0;  ///< a write or a sync ends with write_error
  std::int32_t write_error = EIO;  ///< errno
  bool cancels = true;             ///< a dropped request gets its result when it is cancelled
  std::vector<BadBlocks> bad_blocks = {};
};

class FaultyQueue final : public BlockQueue {
 public:
  FaultyQueue(std::unique_ptr<BlockQueue> below, DiskFaults faults)
      : below_(std::move(below)), faults_(std::move(faults)), random_(faults_.seed) {}

  const DiskFiles& files() const override { return below_->files(); }
  std::uint32_t capacity() const override { return below_->capacity(); }
  void register_memory(std::span<std::byte> memory) override { below_->register_memory(memory); }
  void submit(std::span<const BlockRequest> requests) override;
  void cancel(std::span<const std::uint64_t> ids) override;
  std::size_t reap(std::span<BlockResult> results) override;
  std::string description() const override { return "faulty " + below_->description(); }

  /// Makes the kernel return the dropped requests after all, with EIO.
  void release();
  std::size_t dropped() const { return dropped_.size(); }
  /// Applies from now on.
  void set_faults(DiskFaults faults) { faults_ = std::move(faults); }

 private:
  bool fails(const BlockRequest& request);
  bool is_bad(const BlockRequest& request);
  void tamper(BlockResult& result);

  std::unique_ptr<BlockQueue> below_;
  DiskFaults faults_;
  Random random_;
  std::vector<BlockRequest> out_;  ///< requests below whose bytes will be changed
  std::vector<std::uint64_t> dropped_;
  std::vector<BlockResult> ready_;
  std::vector<BlockRequest> forwarded_;  ///< scratch for submit()
};

}  // namespace farvec::disk
