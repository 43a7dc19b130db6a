// A DiskEngine does one core's reads and writes of files and block devices. They end whole and in
// time, or with the reason why not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "disk/block_queue.h"
#include "disk/disk_progress.h"

namespace farvec::disk {

/// The most bytes of one request, less than Linux takes.
inline constexpr std::uint32_t kMaxDiskRequestBytes = 1u << 30;

/// A DiskRequest is a read or write of whole blocks: offset and bytes are multiples of the file's
/// block_bytes(), and the memory is aligned to its memory_alignment() (DiskFile::cover() widens
/// other ranges). A read may reach past the end of the file by less than a block, a write may not:
/// call DiskFile::grow() first. A sync has neither bytes nor memory; it makes durable what had
/// ended when it was posted. The memory belongs to the engine from post() until a completion says
/// that it came back, or close() has returned.
struct DiskRequest {
  std::uint64_t token = 0;  ///< the caller's; comes back in the completion
  std::uint64_t offset = 0;
  std::byte* memory = nullptr;
  Ticks deadline = 0;
  std::uint32_t bytes = 0;
  std::uint32_t file = 0;
  DiskOperation operation = DiskOperation::read;
};

/// A request has one completion, or two when its deadline passes. Both of these have
/// deadline_exceeded: the first comes at the deadline with `returned` false, the second when the
/// kernel has given the memory back. What a write that failed or came too late has left on the disk
/// is not known.
struct DiskCompletion {
  std::uint64_t token = 0;
  StatusCode status = StatusCode::ok;
  bool returned = true;     ///< the memory belongs to the caller again
  std::int32_t error = 0;   ///< errno, where the kernel gave one
  std::uint32_t bytes = 0;  ///< bytes done; with ok, all that were asked for and are in the file
};

struct DiskEngineOptions {
  double close_patience_us = 30e6;  ///< for requests that the kernel does not return
};

/// One thread uses it, from the first post() on; it knows no fibers. Destroying it closes it.
///
/// Requests end with: ok; data_loss when the device cannot read or write a block (EIO) or the file
/// is shorter than it was when it was opened; deadline_exceeded; unavailable when the device is
/// gone; resource_exhausted when the kernel has no memory for the request or the disk is full. When
/// the kernel serves a request in parts, the engine continues it.
class DiskEngine {
 public:
  explicit DiskEngine(std::unique_ptr<BlockQueue> queue, DiskEngineOptions options = {});
  ~DiskEngine();
  DiskEngine(const DiskEngine&) = delete;
  DiskEngine& operator=(const DiskEngine&) = delete;

  /// Makes memory cheaper to use (registered buffers). The kernel keeps its pages: it must stay
  /// mapped as long as the engine lives. For set-up, before the first post() or on its thread.
  /// Requests may use other memory too.
  void register_memory(std::span<std::byte> memory) { queue_->register_memory(memory); }

  /// Starts all requests with one system call, or none: resource_exhausted when they do not fit
  /// room(), invalid_argument when one is empty, not aligned, too long or outside its file, or
  /// writes a file that was opened for reading, unavailable after close(). The order in which the
  /// disk serves them is not known.
  Status post(std::span<const DiskRequest> requests);

  /// Returns the status that post() would return for this request alone.
  Status check(const DiskRequest& request) const;

  /// Takes out up to completions.size() completions, in any order; never blocks.
  std::size_t poll(std::span<DiskCompletion> completions);

  const DiskFiles& files() const { return queue_->files(); }
  /// Returns the number of requests that may be out at a time; late ones count until they have come
  /// back.
  std::uint32_t max_outstanding() const { return queue_->capacity(); }
  std::uint32_t outstanding() const {
    return max_outstanding() - static_cast<std::uint32_t>(free_.size());
  }
  std::uint32_t room() const { return closed_ ? 0 : static_cast<std::uint32_t>(free_.size()); }
  bool closed() const { return closed_; }
  /// Returns a name for logs: "PATH (O_DIRECT, blocks of 512 bytes), io_uring (...)".
  std::string description() const;

  /// Ends every outstanding request (their completions are not delivered) and gives all memory
  /// back. Call it on the thread that posts, as long as requests are out. Waits for the kernel. A
  /// request that the kernel keeps for longer than the patience is logged; the memory under it may
  /// then be unmapped but not used again. Idempotent.
  void close();

 private:
  enum class State : std::uint8_t { free, out, late };
  struct Slot {
    DiskRequest request;
    DiskProgress progress;
    std::uint32_t generation = 0;
    State state = State::free;
  };
  static constexpr std::size_t kReapedAtOnce = 64;

  static std::uint64_t id_of(std::uint32_t slot, std::uint32_t generation);
  std::uint32_t bytes_inside(const DiskRequest& request) const;
  BlockRequest remainder(std::uint32_t slot) const;
  bool take(const BlockResult& result, DiskCompletion& completion);
  void release(std::uint32_t slot);
  std::size_t expire(std::span<DiskCompletion> completions, Ticks now);
  void cancel_all();

  std::unique_ptr<BlockQueue> queue_;
  const DiskEngineOptions options_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  Ticks earliest_deadline_;  ///< no request that is not late has an earlier one
  bool closed_ = false;
  // Scratch for post() and poll().
  std::vector<BlockRequest> submitted_;
  std::vector<std::uint64_t> cancelled_;
  std::array<BlockResult, kReapedAtOnce> results_;
};

enum class DiskThread {
  owner,  ///< the thread that posts first keeps the engine
  any,    ///< threads use it one after another; costs a little on newer kernels
};

class ModelledDisk;

/// How a disk is used.
struct DiskUse {
  DiskThread thread = DiskThread::owner;
  /// Says when requests end; null: they end when the disk has done them.
  std::shared_ptr<ModelledDisk> model = nullptr;
};

/// Opens an engine over io_uring.
std::unique_ptr<DiskEngine> open_disk(DiskFiles files, std::uint32_t max_outstanding,
                                      const DiskUse& use = {});

}  // namespace farvec::disk
