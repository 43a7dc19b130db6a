// A ReadLane runs one fiber's rounds of reads through the dispatcher of its core.
//
// Three words say how searches read. A lane belongs to one fiber: it is a buffer, and the reads
// that are to fill it. A round is what the fiber reads before it goes on: it adds the reads, posts
// them together, and waits for all of them. A place is where one read of a round writes in the
// buffer.
//
// What can go wrong with a round is one value, Troubles. Without trouble, a round asks it once in
// begin() and once in wait(). Troubles add up; the first row of this table that holds is the
// answer:
//
//   trouble   | how it comes                             | what answers
//   ----------+------------------------------------------+------------------------------------------
//   gave_up   | the deadline of the last round passed    | begin() waits for another buffer
//             | while reads were out, or it is the first |
//   beyond    | a read was added that leaves its place   | post() and hold(): `internal`; no
//             | or the buffer                            | read goes out
//   refused   | the endpoint took nothing of a round     | wait(): the endpoint's reason
//             | that was held back                       |
//   failed    | reads came back with an error, or the    | wait(): the worst error; none when
//             | endpoint took only some of the reads     | all are `unavailable` and the search is
//             |                                          | partial
//   cut_short | a read brought fewer bytes than it asked | wait(): `data_loss`
//   lost      | some reads bring nothing                 | bytes(): empty for these
//   moved     | reads were added elsewhere than in their | begin() puts them in their places
//             | places                                   |
//
// begin() forgets them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "coroutines/wait_group.h"
#include "transport/endpoint.h"

namespace farvec::search {

class ReadDispatcher;

/// See the table above.
enum class Trouble : std::uint8_t {
  gave_up = 1,
  beyond = 2,
  refused = 4,
  failed = 8,
  cut_short = 16,
  lost = 32,
  moved = 64,
};

/// Troubles are all that is wrong with a round.
class Troubles {
 public:
  explicit constexpr Troubles(Trouble first) : bits_(static_cast<std::uint8_t>(first)) {}

  constexpr bool any() const { return bits_ != 0; }
  constexpr bool has(Trouble one) const { return (bits_ & static_cast<unsigned>(one)) != 0; }
  constexpr void add(Trouble one) { bits_ |= static_cast<std::uint8_t>(one); }
  constexpr void clear() { bits_ = 0; }

 private:
  std::uint8_t bits_;
};

/// One round follows another: begin(), add reads with an Appender, post() or hold(), wait(),
/// bytes().
class alignas(kCacheLineBytes) ReadLane {
 public:
  /// `token` is the token of the first read of its rounds.
  ReadLane(ReadDispatcher& dispatcher, std::uint64_t token);
  ReadLane(const ReadLane&) = delete;
  ReadLane& operator=(const ReadLane&) = delete;

  /// Begins a round. The reads before must be done; the bytes that they brought stay where the new
  /// round does not write. Suspends while the lane has no buffer.
  Status begin(Ticks deadline) {
    reads_ = 0;
    return troubles_.any() ? settle(deadline) : Status();
  }

  class Appender;

  /// Posts the round with one doorbell. Only while the endpoint's limit of outstanding reads leaves
  /// too little room does it use several, and suspends in between. A round with a read that would
  /// write beyond its place or the buffer is refused (`internal`).
  Status post(Ticks deadline);

  /// Like post(), for a caller that goes on to wait(): the round of one lane may be held back until
  /// ReadDispatcher::post_held(), poll() or any lane's next post() or hold(). If it cannot be
  /// posted then, wait() returns the reason.
  Status hold(Ticks deadline);

  /// Suspends until the round's reads are done. Checks every status and length. On success bytes(i)
  /// is valid until the next begin(). With `partial`, reads that came back `unavailable` are not an
  /// error, and neither are reads that the endpoint did not take for that reason after it had taken
  /// others; their bytes are empty. It is an error when the endpoint took nothing of a round that
  /// was held back.
  Status wait(Ticks deadline, bool partial) {
    const Status waited = group_.wait(deadline);
    return troubles_.any() || !waited.ok() ? verdict(partial) : Status();
  }

  /// Says whether what came is in the region itself and not in the buffer (Completion::region);
  /// known after the first read.
  bool by_reference() const;

  /// Returns the bytes that read i of the round has brought; empty when it is lost.
  std::span<const std::byte> bytes(std::uint32_t i) const;

  /// Returns the reads of the round.
  std::span<const transport::ReadRequest> reads() const { return {requests_, reads_}; }

 private:
  friend class ReadDispatcher;

  void make_requests(std::size_t count);
  void grow();
  Status settle(Ticks deadline);
  void take_buffer(HugeBuffer buffer);
  Status verdict(bool partial);
  void note(const transport::Completion& completion);
  void note_error(StatusCode code);
  void note_lost(std::size_t first, std::size_t count);

  // A round without trouble needs only what is in one cache line: it has left the nearest cache
  // when a fiber has its next turn.
  ReadDispatcher& dispatcher_;
  coroutines::WaitGroup group_;
  std::uint64_t token_;  ///< token of a round's first read: its generation, and the lane
  /// The first `reads_` of them are the round. All have their token, region and place.
  transport::ReadRequest* requests_ = nullptr;
  std::uint32_t reads_ = 0;  ///< reads of the round
  std::uint32_t room_ = 0;   ///< requests that there is room for
  std::uint32_t place_bytes_;
  Troubles troubles_{Trouble::gave_up};

  HugeBuffer buffer_;  ///< empty while the buffer given up has not come back and there is no spare
  std::size_t lane_bytes_;
  StatusCode error_ = StatusCode::ok;  ///< for Trouble::failed
  Status refused_;                     ///< for Trouble::refused
  std::vector<std::uint8_t> lost_;     ///< for Trouble::lost: one flag per read
  std::vector<transport::ReadRequest> request_store_;
};

/// Adds reads to a lane's round, at most DispatcherOptions::max_reads in all. They are numbered
/// from 0 on. Where a dispatcher's reads have places, either all of a round are in theirs or none
/// is.
class ReadLane::Appender {
 public:
  explicit Appender(ReadLane& lane)
      : lane_(lane), next_(lane.requests_ + lane.reads_), end_(lane.requests_ + lane.room_) {}
  ~Appender() { lane_.reads_ = static_cast<std::uint32_t>(next_ - lane_.requests_); }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  /// Adds a read of the dispatcher's region, into the place with the read's number.
  void add(std::uint64_t offset, std::uint32_t bytes) {
    if (bytes > lane_.place_bytes_) [[unlikely]] {
      lane_.troubles_.add(Trouble::beyond);
    }
    (void)append(offset, bytes);
  }

  /// Adds a read to the place `at` bytes into the lane's buffer.
  void add(std::uint64_t offset, std::uint32_t bytes, std::uint64_t at) {
    if (lane_.place_bytes_ > 0) lane_.troubles_.add(Trouble::moved);
    if (at > lane_.lane_bytes_ || bytes > lane_.lane_bytes_ - at) [[unlikely]] {
      lane_.troubles_.add(Trouble::beyond);
      at = 0;
    }
    append(offset, bytes).destination = lane_.buffer_.data() + at;
  }

 private:
  transport::ReadRequest& append(std::uint64_t offset, std::uint32_t bytes) {
    if (next_ == end_) [[unlikely]] {
      grow();
    }
    next_->bytes = bytes;
    next_->offset = offset;
    return *next_++;
  }
  void grow() {
    const auto reads = next_ - lane_.requests_;
    lane_.grow();
    next_ = lane_.requests_ + reads;
    end_ = lane_.requests_ + lane_.room_;
  }

  ReadLane& lane_;
  transport::ReadRequest* next_;
  transport::ReadRequest* end_;
};

}  // namespace farvec::search
