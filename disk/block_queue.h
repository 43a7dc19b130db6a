// Asynchronous reads and writes of blocks as the kernel has them: the seam below the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "disk/disk_file.h"

namespace farvec::disk {

enum class DiskOperation : std::uint8_t {
  read,
  write,  ///< durable only after a sync that was submitted when the write had ended
  sync,   ///< of the whole file; has no memory and no bytes
};

/// Aligned as its file asks.
struct BlockRequest {
  std::uint64_t id = 0;  ///< comes back in the result; no two requests that are out share one
  std::uint64_t offset = 0;
  std::byte* memory = nullptr;  ///< read into, or written from
  std::uint32_t bytes = 0;
  std::uint32_t file = 0;
  DiskOperation operation = DiskOperation::read;
};

struct BlockResult {
  std::uint64_t id = 0;
  std::int32_t result = 0;  ///< bytes, fewer than asked for at times, or -errno
};

/// Every request that was submitted has exactly one result, and its memory belongs to the queue
/// until then. Used by one thread from the first submit() on. Nothing here retries or gives up.
class BlockQueue {
 public:
  BlockQueue() = default;
  virtual ~BlockQueue() = default;
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;

  virtual const DiskFiles& files() const = 0;
  /// Requests that may be out at a time.
  virtual std::uint32_t capacity() const = 0;

  /// Makes memory cheaper to use; it must stay mapped as long as the queue lives. For set-up.
  virtual void register_memory(std::span<std::byte> memory) = 0;

  /// Starts all requests with one system call, in any order. The caller keeps within capacity().
  virtual void submit(std::span<const BlockRequest> requests) = 0;

  /// Asks for an early end of requests that are out; each still has its result.
  virtual void cancel(std::span<const std::uint64_t> ids) = 0;

  /// Moves up to results.size() results out, in any order; never blocks.
  virtual std::size_t reap(std::span<BlockResult> results) = 0;

  /// "io_uring (deferred completions, registered files)".
  virtual std::string description() const = 0;
};

}  // namespace farvec::disk
