// A BlockQueue does asynchronous reads and writes of blocks in the kernel's own terms. It is the
// interface below the engine.
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
  sync,   ///< for the whole file; has no memory and no bytes
};

/// It is aligned to what its file requires.
struct BlockRequest {
  std::uint64_t id = 0;  ///< comes back in the result; requests that are out have different ids
  std::uint64_t offset = 0;
  std::byte* memory = nullptr;  ///< memory to read into, or to write from
  std::uint32_t bytes = 0;
  std::uint32_t file = 0;
  DiskOperation operation = DiskOperation::read;
};

struct BlockResult {
  std::uint64_t id = 0;
  std::int32_t result = 0;  ///< bytes, which may be fewer than asked for, or -errno
};

/// Every request that was submitted has exactly one result, and its memory belongs to the queue
/// until then. One thread uses it, from the first submit() on. It neither retries nor gives up.
class BlockQueue {
 public:
  BlockQueue() = default;
  virtual ~BlockQueue() = default;
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;

  virtual const DiskFiles& files() const = 0;
  /// Returns the number of requests that may be out at a time.
  virtual std::uint32_t capacity() const = 0;

  /// Makes memory cheaper to use; it must stay mapped as long as the queue lives. For set-up.
  virtual void register_memory(std::span<std::byte> memory) = 0;

  /// Starts all requests with one system call, in any order. The caller keeps within capacity().
  virtual void submit(std::span<const BlockRequest> requests) = 0;

  /// Asks for an early end of requests that are out; each still gets its result.
  virtual void cancel(std::span<const std::uint64_t> ids) = 0;

  /// Takes out up to results.size() results, in any order; never blocks.
  virtual std::size_t reap(std::span<BlockResult> results) = 0;

  /// Returns a name for logs: "io_uring (deferred completions, registered files)".
  virtual std::string description() const = 0;
};

}  // namespace farvec::disk
