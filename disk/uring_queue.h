// A UringQueue reads and writes through io_uring.
#pragma once

#include <liburing.h>

#include <cstdint>
#include <vector>

#include "disk/block_queue.h"

namespace farvec::disk {

inline constexpr std::uint32_t kMaxQueuedRequests = 4096;

struct UringOptions {
  std::uint32_t capacity = 256;  ///< 1 to kMaxQueuedRequests
  /// Does without features that kernels before 6.1 do not have.
  bool plain = false;
};

/// Has one ring, with the files registered and, as far as the locked-memory limit allows, the
/// memory. Where the kernel can, completions are processed only when this thread asks for them
/// (IORING_SETUP_DEFER_TASKRUN): then the ring belongs to the thread of the first submit().
class UringQueue final : public BlockQueue {
 public:
  /// Throws SystemError that says what forbids io_uring here.
  UringQueue(DiskFiles files, UringOptions options);
  ~UringQueue() override;

  const DiskFiles& files() const override { return files_; }
  std::uint32_t capacity() const override { return options_.capacity; }
  void register_memory(std::span<std::byte> memory) override;
  void submit(std::span<const BlockRequest> requests) override;
  void cancel(std::span<const std::uint64_t> ids) override;
  std::size_t reap(std::span<BlockResult> results) override;
  std::string description() const override;

 private:
  /// The number of a slot is the number of the registered buffer; an empty range is a free slot.
  struct Range {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
  };

  void register_files();
  bool register_range(std::span<std::byte> memory);
  int buffer_of(const BlockRequest& request) const;
  void prepare(const BlockRequest& request);
  int flush();

  const DiskFiles files_;
  const UringOptions options_;
  io_uring ring_{};
  bool deferred_ = false;
  bool enabled_ = true;  ///< false until the first submit() where the ring begins disabled
  bool fixed_files_ = false;
  bool sparse_table_ = false;  ///< whether the kernel's table of buffers may have free slots
  std::vector<Range> ranges_;
  std::size_t locked_bytes_ = 0;  ///< what registering has locked in memory
};

}  // namespace farvec::disk
