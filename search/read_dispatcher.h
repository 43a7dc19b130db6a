// The few lines between fibers and an endpoint: posts a fiber's reads, wakes it when they are done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "coroutines/wait_group.h"
#include "transport/endpoint.h"

namespace farvec::search {

struct DispatcherOptions {
  std::uint32_t lanes = 1;      ///< fibers that read
  std::size_t lane_bytes = 0;   ///< of a lane's buffer
  std::uint32_t max_reads = 0;  ///< of one post(); at most ReadDispatcher::kMostReads
};

/// A read of the records region into a lane's buffer.
struct LaneRead {
  std::uint64_t offset = 0;  ///< from the start of the region
  std::uint32_t bytes = 0;
  std::uint64_t at = 0;  ///< in the buffer
};

/// One core's reads. Each fiber has a lane with a buffer. A lane whose deadline passes
/// while reads are out gives its buffer up (the endpoint may still write to it) and gets a spare
/// one and a new generation; completions of an old generation are counted and dropped, and after
/// the last of them the buffer is a spare again. All buffers are made and registered with the
/// dispatcher and none later: a lane that finds no spare waits for one before it reads on. When
/// kMostInVain posts have waited in vain since the last buffer came back, or half of the endpoint's
/// reads have been late for a second, the endpoint is taken for lost: it is closed, and every read
/// that waits or comes later ends with `unavailable`.
class ReadDispatcher {
 public:
  static constexpr std::uint32_t kMostReads = (1u << 16) - 1;  ///< of one post()

  ReadDispatcher(std::unique_ptr<transport::Endpoint> endpoint, coroutines::Scheduler& scheduler,
                 DispatcherOptions options);
  ~ReadDispatcher();
  ReadDispatcher(const ReadDispatcher&) = delete;
  ReadDispatcher& operator=(const ReadDispatcher&) = delete;

  /// Bytes of the dispatcher's own memory, known before it is made.
  static std::size_t memory_bytes(const DispatcherOptions& options);
  /// Buffers besides those of the lanes: as many again as fit kSpareBytes. A lane that is larger
  /// has none and waits for its own.
  static std::uint32_t spare_buffers(const DispatcherOptions& options);

  /// Posts the reads, at most max_reads, with one doorbell; with several, and suspending in
  /// between, only while the endpoint's limit of outstanding reads leaves too little room. Suspends
  /// too while the lane has no buffer. The lane's reads before must be done; what they brought
  /// stays where these do not write. `reads` must stay until the lane's next post(). A read that
  /// would write beyond the lane's buffer is refused (`internal`), and those behind it.
  Status post(std::uint32_t lane, std::span<const LaneRead> reads, Ticks deadline);

  /// As post(), for a caller that goes on to wait(): the reads of one lane may be held back until
  /// post_held(), poll() or any lane's next reads. What keeps them from being posted then is told
  /// by wait().
  Status hold(std::uint32_t lane, std::span<const LaneRead> reads, Ticks deadline);

  /// Posts what is held back. Never suspends: for a moment in which the core would wait for memory.
  void post_held() {
    if (held_ != kNoLane) post_held_lane();
  }

  /// Suspends until the lane's reads are done. Checks every status and length. On success
  /// bytes(lane, i) is valid until the lane's next post(). With `partial`, reads that came back
  /// `unavailable`, or that the endpoint did not take for that reason behind others that it took,
  /// are no error; their bytes are empty. That nothing was taken of what was held back is one.
  Status wait(std::uint32_t lane, Ticks deadline, bool partial);

  /// Whether what came lies in the region itself and not in the lane's buffer (Completion::region);
  /// known after the first read.
  bool by_reference() const { return region_ != nullptr; }

  std::span<const std::byte> bytes(std::uint32_t lane_index, std::uint32_t i) const {
    const Lane& lane = lanes_[lane_index];
    if (lane.has_lost && lane.lost[i] != 0) return {};
    const LaneRead& read = lane.reads[i];
    return {region_ != nullptr ? region_ + read.offset : lane.buffer.data() + read.at, read.bytes};
  }

  /// Posts what is held back and moves completions to their lanes; the scheduler's poller. True
  /// when there were any completions.
  bool poll();

  coroutines::Scheduler& scheduler() { return scheduler_; }
  const DispatcherOptions& options() const { return options_; }
  /// The endpoint was given up; it does not come back.
  bool closed() const { return closed_; }
  std::uint32_t in_flight() const { return in_flight_; }
  std::uint64_t stalls() const { return stalls_; }
  std::uint64_t late_completions() const { return late_; }
  std::size_t dram_bytes() const { return memory_bytes(options_); }
  const transport::Endpoint& endpoint() const { return *endpoint_; }

 private:
  static constexpr std::uint32_t kNoLane = ~std::uint32_t{0};
  static constexpr std::size_t kSpareBytes = std::size_t{16} << 20;
  static constexpr std::uint32_t kMostInVain = 64;
  static constexpr double kStuckUs = 1e6;
  static constexpr std::uint32_t kPolledAtOnce = 1024;

  struct Lane {
    HugeBuffer buffer;  ///< none while what it gave up has not come back and there is no spare
    std::optional<coroutines::WaitGroup> group;  ///< always; here, so that a line less is touched
    std::uint32_t generation = 0;
    StatusCode error = StatusCode::ok;
    bool short_read = false;
    bool has_lost = false;
    Status refused;                   ///< why nothing has been posted of what was held back
    std::span<const LaneRead> reads;  ///< of the last post() or hold(), the caller's
    std::vector<std::uint8_t> lost;   ///< by read, when it has lost any
  };

  /// What a lane gave up.
  struct Retired {
    HugeBuffer buffer;
    std::uint32_t lane = 0;
    std::uint32_t generation = 0;
    std::uint32_t pending = 0;
  };

  HugeBuffer make_buffer() const;
  Lane& begin(std::uint32_t lane, std::span<const LaneRead> reads);
  void post_held_lane();
  void note(Lane& lane, const transport::Completion& completion);
  static void note_error(Lane& lane, StatusCode code);
  static void note_lost(Lane& lane, std::size_t first, std::size_t count);
  Status post_all(std::uint32_t lane, std::span<const LaneRead> reads, Ticks deadline,
                  std::uint32_t& posted);
  Status post_some(std::uint32_t lane, std::span<const LaneRead> reads, std::uint32_t first);
  std::uint32_t room_for(std::size_t reads) const;
  void retire(std::uint32_t lane);
  bool take_spare(Lane& lane);
  Status wait_for_buffer(Lane& lane, Ticks deadline);
  void give_up_if_stuck();
  void release_late(std::uint32_t lane, std::uint32_t generation, std::uint32_t reads);
  void close();

  std::unique_ptr<transport::Endpoint> endpoint_;
  coroutines::Scheduler& scheduler_;
  const DispatcherOptions options_;
  const std::uint32_t max_outstanding_;
  std::vector<Lane> lanes_;
  std::vector<Retired> retired_;
  std::vector<HugeBuffer> spares_;
  std::uint32_t held_ = kNoLane;      ///< whose reads are held back
  std::uint32_t in_vain_ = 0;         ///< posts that found no buffer since one came back
  std::uint32_t late_in_flight_ = 0;  ///< reads of retired buffers
  // Scratch of post() and poll(), which never suspend while they use it.
  std::vector<transport::ReadRequest> requests_;
  std::vector<transport::Completion> completions_;
  std::uint32_t in_flight_ = 0;
  Ticks stuck_since_ = 0;  ///< when too many reads were late; 0: they are not
  bool closed_ = false;
  const std::byte* region_ = nullptr;  ///< its first byte, when what comes lies there
  std::uint64_t stalls_ = 0;
  std::uint64_t late_ = 0;
};

// Inline, as all that suspends on the hot path (coroutines/scheduler.h).
inline Status ReadDispatcher::wait(std::uint32_t lane_index, Ticks deadline, bool partial) {
  Lane& lane = lanes_[lane_index];
  const Status waited = lane.group->wait(deadline);
  if (lane.group->pending() > 0) {
    retire(lane_index);
    return {StatusCode::deadline_exceeded, "the deadline passed before the records came"};
  }
  if (!lane.refused.ok()) return lane.refused;
  const bool tolerated = partial && !closed_ && lane.error == StatusCode::unavailable;
  if (lane.error != StatusCode::ok && !tolerated)
    return {lane.error, "a read from the memory node failed"};
  if (lane.short_read) return {StatusCode::data_loss, "a record came back shorter than it is"};
  return waited;
}

}  // namespace farvec::search
