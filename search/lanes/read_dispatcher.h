// A ReadDispatcher stands between fibers and an endpoint: it posts a fiber's reads and wakes the
// fiber when they are done.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "search/lanes/read_lane.h"
#include "transport/endpoint.h"

namespace farvec::search {

struct DispatcherOptions {
  std::uint32_t lanes = 1;         ///< fibers that read
  std::size_t lane_bytes = 0;      ///< size of a lane's buffer
  std::uint32_t max_reads = 0;     ///< most reads in a round; at most ReadDispatcher::kMostReads
  std::uint32_t place_bytes = 0;   ///< size of the place of a read that is added without one
  transport::RegionId region = 0;  ///< the region that all reads are of
};

/// Dispatches one core's reads. Each fiber has a lane (read_lane.h explains lane, round and place).
/// A lane whose deadline passes while reads are out gives its buffer up (the endpoint may still
/// write to it) and gets a spare buffer and a new generation. Completions of an old generation are
/// counted and dropped; after the last of them the buffer becomes a spare. All buffers are made and
/// registered together with the dispatcher and none later: a lane that finds no spare waits for one
/// before it reads on. The endpoint is taken for lost when kMostInVain rounds have waited in vain
/// since the last buffer came back, or when half of the endpoint's reads have been late for a
/// second. It is then closed, and every read that waits or comes later ends with `unavailable`.
class alignas(kCacheLineBytes) ReadDispatcher {
 public:
  static constexpr std::uint32_t kMostReads = (1u << 16) - 1;  ///< most reads in a round

  ReadDispatcher(std::unique_ptr<transport::Endpoint> endpoint, coroutines::Scheduler& scheduler,
                 DispatcherOptions options);
  ~ReadDispatcher();
  ReadDispatcher(const ReadDispatcher&) = delete;
  ReadDispatcher& operator=(const ReadDispatcher&) = delete;

  /// Returns the bytes of the dispatcher's own memory, known before it is made. They include the
  /// requests of one lane's longest round; searches have to count further rounds of that length
  /// themselves.
  static std::size_t memory_bytes(const DispatcherOptions& options);
  /// Buffers besides those of the lanes: as many as the lanes have, within kSpareBytes. With larger
  /// lanes there are none, and a lane waits for its own buffer.
  static std::uint32_t spare_buffers(const DispatcherOptions& options);

  ReadLane& lane(std::uint32_t index) { return *lanes_[index]; }

  /// Posts what is held back. Never suspends. For a moment in which the core would wait for memory.
  void post_held() {
    if (held_ != nullptr) post_held_lane();
  }

  /// Posts what is held back and passes completions to their lanes; it is the scheduler's poller.
  /// True when there were any completions.
  bool poll();

  coroutines::Scheduler& scheduler() { return scheduler_; }
  const DispatcherOptions& options() const { return options_; }
  /// Says whether the endpoint was given up; it does not come back.
  bool closed() const { return closed_; }
  std::uint32_t in_flight() const { return in_flight_; }
  std::uint64_t stalls() const { return stalls_; }
  std::uint64_t late_completions() const { return late_; }
  std::size_t dram_bytes() const;
  const transport::Endpoint& endpoint() const { return *endpoint_; }

 private:
  friend class ReadLane;

  /// Reads that a lane has room for from the beginning.
  static constexpr std::uint32_t kFirstReads = 64;
  static constexpr std::size_t kSpareBytes = std::size_t{16} << 20;
  static constexpr std::uint32_t kMostInVain = 64;
  static constexpr double kStuckUs = 1e6;
  static constexpr std::uint32_t kPolledAtOnce = 1024;

  /// A Retired is a buffer that a lane gave up.
  struct Retired {
    HugeBuffer buffer;
    std::uint64_t token = 0;  ///< the token of its round's first read
    std::uint32_t pending = 0;
  };

  static std::size_t made_bytes(const DispatcherOptions& options);
  static std::uint32_t first_reads(const DispatcherOptions& options);
  HugeBuffer make_buffer() const;
  Status post(ReadLane& lane, Ticks deadline);
  Status hold(ReadLane& lane, Ticks deadline);
  void post_held_lane();
  Status post_all(ReadLane& lane, Ticks deadline, std::uint32_t& posted);
  Status post_some(std::span<const transport::ReadRequest> reads);
  std::uint32_t room_for(std::size_t reads) const;
  void retire(ReadLane& lane);
  bool take_spare(ReadLane& lane);
  Status wait_for_buffer(ReadLane& lane, Ticks deadline);
  void give_up_if_stuck();
  void release_late(std::uint64_t token, std::uint32_t reads);
  void close();

  std::unique_ptr<transport::Endpoint> endpoint_;
  coroutines::Scheduler& scheduler_;
  /// The region's first byte, when what comes is in the region itself.
  const std::byte* region_ = nullptr;
  ReadLane* held_ = nullptr;  ///< the lane whose round is held back
  const std::uint32_t max_outstanding_;
  std::uint32_t in_flight_ = 0;
  bool closed_ = false;
  std::vector<transport::Completion> completions_;  ///< scratch for poll()
  std::vector<std::unique_ptr<ReadLane>> lanes_;
  std::vector<Retired> retired_;
  std::vector<HugeBuffer> spares_;
  const DispatcherOptions options_;
  std::uint32_t in_vain_ = 0;         ///< rounds that found no buffer since the last one came back
  std::uint32_t late_in_flight_ = 0;  ///< reads into retired buffers
  Ticks stuck_since_ = 0;             ///< since when too many reads have been late; 0: they are not
  std::uint64_t stalls_ = 0;
  std::uint64_t late_ = 0;
};

inline std::span<const std::byte> ReadLane::bytes(std::uint32_t i) const {
  if (troubles_.has(Trouble::lost) && lost_[i] != 0) [[unlikely]] {
    return {};
  }
  const transport::ReadRequest& read = requests_[i];
  const std::byte* const region = dispatcher_.region_;
  return {region != nullptr ? region + read.offset : read.destination, read.bytes};
}

}  // namespace farvec::search
