#include "disk/uring_queue.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/log.h"
#include "disk/uring_setup.h"

namespace farvec::disk {
namespace {

constexpr std::uint64_t kCancelId = ~std::uint64_t{0};
constexpr std::size_t kMaxRanges = 256;
constexpr std::size_t kMaxRangeBytes = std::size_t{1} << 30;  // the kernel's limit for one buffer
constexpr std::size_t kReapedAtOnce = 64;

int opcode_of(const BlockRequest& request, bool registered) {
  if (request.operation == DiskOperation::read) {
    return registered ? IORING_OP_READ_FIXED : IORING_OP_READ;
  }
  return registered ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE;
}

/// Bytes that all queues of this process have locked. Relaxed: a bound that orders nothing.
std::atomic<std::size_t> all_locked_bytes{0};

/// Says whether buffers may lock so much more. They leave half of the limit to rings, without which
/// no queue can be made. Root has no limit.
bool may_lock(std::size_t bytes) {
  rlimit limit{};
  if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return true;
  if (limit.rlim_cur == RLIM_INFINITY) return true;
  return all_locked_bytes.load(std::memory_order_relaxed) + bytes <= limit.rlim_cur / 2;
}

}  // namespace

UringQueue::UringQueue(DiskFiles files, UringOptions options)
    : files_(std::move(files)), options_(options) {
  if (options_.capacity == 0 || options_.capacity > kMaxQueuedRequests) {
    throw Error("a queue of {} requests: use 1 to {}", options_.capacity, kMaxQueuedRequests);
  }
  // Twice, because each request may need an entry of its own and one more to be cancelled.
  deferred_ = set_up_ring(ring_, 2 * options_.capacity, options_.plain);
  enabled_ = !deferred_;
  register_files();
}

UringQueue::~UringQueue() {
  io_uring_queue_exit(&ring_);
  all_locked_bytes.fetch_sub(locked_bytes_, std::memory_order_relaxed);
}

void UringQueue::register_files() {
  std::vector<int> descriptors;
  for (const auto& file : files_) descriptors.push_back(file->descriptor());
  fixed_files_ = io_uring_register_files(&ring_, descriptors.data(),
                                         static_cast<unsigned>(descriptors.size())) == 0;
}

void UringQueue::register_memory(std::span<std::byte> memory) {
  if (!sparse_table_) {
    sparse_table_ = io_uring_register_buffers_sparse(&ring_, kMaxRanges) == 0;
  }
  // A caller that registers addresses anew has unmapped what was there: the kernel holds other
  // pages for them.
  const std::byte* const end = memory.data() + memory.size();
  for (Range& range : ranges_) {
    if (range.begin < end && memory.data() < range.end) range = {};
  }
  for (std::size_t at = 0; at < memory.size(); at += kMaxRangeBytes) {
    if (!register_range(memory.subspan(at, std::min(kMaxRangeBytes, memory.size() - at)))) {
      static std::atomic<bool> said{false};  // a process has many queues
      if (said.exchange(true, std::memory_order_relaxed)) return;
      spdlog::warn(
          "{} bytes could not be registered with io_uring (the limit of locked memory, ulimit -l, "
          "or an old kernel): their use costs more",
          memory.size() - at);
      return;
    }
  }
}

bool UringQueue::register_range(std::span<std::byte> memory) {
  auto slot = std::find_if(ranges_.begin(), ranges_.end(),
                           [](const Range& range) { return range.begin == nullptr; });
  if (!sparse_table_ || (slot == ranges_.end() && ranges_.size() == kMaxRanges)) return false;
  if (!may_lock(memory.size())) return false;
  if (slot == ranges_.end()) slot = ranges_.insert(slot, Range{});
  const iovec where{memory.data(), memory.size()};
  const __u64 tag = 0;
  const auto number = static_cast<unsigned>(slot - ranges_.begin());
  if (io_uring_register_buffers_update_tag(&ring_, number, &where, &tag, 1) != 1) return false;
  *slot = {memory.data(), memory.data() + memory.size()};
  locked_bytes_ += memory.size();
  all_locked_bytes.fetch_add(memory.size(), std::memory_order_relaxed);
  return true;
}

/// The registered buffer that holds the request's memory, or -1.
int UringQueue::buffer_of(const BlockRequest& request) const {
  const std::byte* const end = request.memory + request.bytes;
  const auto range = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& candidate) {
    return candidate.begin <= request.memory && end <= candidate.end;
  });
  return range == ranges_.end() ? -1 : static_cast<int>(range - ranges_.begin());
}

void UringQueue::prepare(const BlockRequest& request) {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  FARVEC_CHECK(entry != nullptr, "more requests than the ring was made for");
  const int file =
      fixed_files_ ? static_cast<int>(request.file) : files_[request.file]->descriptor();
  if (request.operation == DiskOperation::sync) {
    io_uring_prep_fsync(entry, file, IORING_FSYNC_DATASYNC);
  } else {
    const int buffer = buffer_of(request);
    io_uring_prep_rw(opcode_of(request, buffer >= 0), entry, file, request.memory, request.bytes,
                     request.offset);
    if (buffer >= 0) entry->buf_index = static_cast<std::uint16_t>(buffer);
  }
  if (fixed_files_) entry->flags |= IOSQE_FIXED_FILE;
  entry->user_data = request.id;
}

/// Requests that the kernel does not take now (because it is short of memory, for example) stay in
/// the ring for the next reap().
int UringQueue::flush() {
  if (!enabled_) {
    enable_ring(ring_);
    enabled_ = true;
  }
  return io_uring_submit(&ring_);
}

void UringQueue::submit(std::span<const BlockRequest> requests) {
  for (const BlockRequest& request : requests) prepare(request);
  const int result = flush();
  FARVEC_CHECK(result != -EEXIST, "a ring is used by another thread than the one that began");
}

void UringQueue::cancel(std::span<const std::uint64_t> ids) {
  for (const std::uint64_t id : ids) {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    // The ring is full of requests that the kernel does not take either.
    if (entry == nullptr) break;
    io_uring_prep_cancel64(entry, id, 0);
    entry->user_data = kCancelId;
  }
  (void)flush();
}

std::size_t UringQueue::reap(std::span<BlockResult> results) {
  if (io_uring_sq_ready(&ring_) > 0) (void)flush();
  io_uring_cqe* completions[kReapedAtOnce];
  const auto wanted = static_cast<unsigned>(std::min(results.size(), kReapedAtOnce));
  const unsigned found = io_uring_peek_batch_cqe(&ring_, completions, wanted);
  std::size_t count = 0;
  for (unsigned i = 0; i < found; ++i) {
    if (completions[i]->user_data == kCancelId) continue;
    results[count++] = {completions[i]->user_data, completions[i]->res};
  }
  io_uring_cq_advance(&ring_, found);
  return count;
}

std::string UringQueue::description() const {
  return fmt::format("io_uring ({} completions, {} files)", deferred_ ? "deferred" : "plain",
                     fixed_files_ ? "registered" : "plain");
}

}  // namespace farvec::disk
