#include "search/lanes/read_dispatcher.h"

#include <algorithm>

namespace farvec::search {
namespace {

// A token consists of generation (32 bits), lane (16), read (16).
constexpr std::uint32_t kLaneShift = 16;
constexpr std::uint64_t kNextGeneration = std::uint64_t{1} << 32;
constexpr std::uint64_t kReadMask = (std::uint64_t{1} << kLaneShift) - 1;

}  // namespace

ReadDispatcher::ReadDispatcher(std::unique_ptr<transport::Endpoint> endpoint,
                               coroutines::Scheduler& scheduler, DispatcherOptions options)
    : endpoint_(std::move(endpoint)),
      scheduler_(scheduler),
      max_outstanding_(endpoint_->limits().max_outstanding),
      completions_(kPolledAtOnce),
      options_(options) {
  FARVEC_CHECK(options.lanes > 0 && options.lanes < (1u << 16));
  FARVEC_CHECK(options.max_reads <= kMostReads && max_outstanding_ > 0);
  FARVEC_CHECK(std::size_t{options.max_reads} * options.place_bytes <= options.lane_bytes);
  for (std::uint32_t i = 0; i < options.lanes; ++i) {
    lanes_.push_back(std::make_unique<ReadLane>(*this, std::uint64_t{i} << kLaneShift));
    lanes_.back()->take_buffer(make_buffer());
  }
  // Neither ever grows, because there are no other buffers.
  retired_.reserve(options.lanes + spare_buffers(options));
  spares_.reserve(options.lanes + spare_buffers(options));
  while (spares_.size() < spare_buffers(options)) spares_.push_back(make_buffer());
}

std::uint32_t ReadDispatcher::spare_buffers(const DispatcherOptions& options) {
  const std::size_t fitting = kSpareBytes / std::max<std::size_t>(options.lane_bytes, 1);
  return static_cast<std::uint32_t>(std::min<std::size_t>(options.lanes, fitting));
}

std::uint32_t ReadDispatcher::first_reads(const DispatcherOptions& options) {
  return std::min(options.max_reads, kFirstReads);
}

std::size_t ReadDispatcher::made_bytes(const DispatcherOptions& options) {
  const std::size_t buffers = std::size_t{options.lanes} + spare_buffers(options);
  return buffers * options.lane_bytes + std::size_t{options.lanes} * options.max_reads +
         kPolledAtOnce * sizeof(transport::Completion);
}

std::size_t ReadDispatcher::memory_bytes(const DispatcherOptions& options) {
  const std::size_t first = std::size_t{options.lanes} * first_reads(options);
  return made_bytes(options) + (first + options.max_reads) * sizeof(transport::ReadRequest);
}

std::size_t ReadDispatcher::dram_bytes() const {
  std::size_t requests = 0;
  for (const auto& lane : lanes_) requests += lane->room_;
  return made_bytes(options_) + requests * sizeof(transport::ReadRequest);
}

HugeBuffer ReadDispatcher::make_buffer() const {
  HugeBuffer buffer(options_.lane_bytes);
  endpoint_->register_memory(buffer.span());
  return buffer;
}

ReadDispatcher::~ReadDispatcher() {
  endpoint_->close();
}

/// How many of `reads` reads to post now; 0 when it is better to wait for more room.
std::uint32_t ReadDispatcher::room_for(std::size_t reads) const {
  const std::uint32_t room = max_outstanding_ - in_flight_;
  if (reads <= room) return static_cast<std::uint32_t>(reads);
  return room >= std::max(max_outstanding_ / 4, 1u) && reads > max_outstanding_ / 4 ? room : 0;
}

Status ReadDispatcher::post_some(std::span<const transport::ReadRequest> reads) {
  if (Status status = endpoint_->post(reads); !status.ok()) return status;
  in_flight_ += static_cast<std::uint32_t>(reads.size());
  return {};
}

Status ReadDispatcher::hold(ReadLane& lane, Ticks deadline) {
  post_held();
  const bool room = held_ == nullptr && lane.reads_ <= max_outstanding_ - in_flight_;
  if (closed_ || !room || lane.reads_ == 0 || lane.troubles_.any()) return post(lane, deadline);
  lane.group_.add(lane.reads_);
  held_ = &lane;
  return {};
}

/// Posts the round that is held back, which stays so while the endpoint has no room.
void ReadDispatcher::post_held_lane() {
  ReadLane& lane = *held_;
  const Status status = post_some(lane.reads());
  if (status.code() == StatusCode::resource_exhausted) {
    ++stalls_;
    give_up_if_stuck();
    return;
  }
  held_ = nullptr;
  if (status.ok()) return;
  lane.troubles_.add(Trouble::refused);
  lane.refused_ = status;
  lane.group_.done(lane.group_.pending());
}

Status ReadDispatcher::post(ReadLane& lane, Ticks deadline) {
  post_held();
  if (lane.troubles_.has(Trouble::beyond)) {
    return {StatusCode::internal, "a read does not fit the buffer of its search"};
  }
  std::uint32_t posted = 0;
  const Status status = post_all(lane, deadline, posted);
  if (status.ok()) return {};
  // No read brings the rest, and its places hold what earlier reads have left.
  lane.note_lost(posted, lane.reads_ - posted);
  if (posted == 0 || status.code() == StatusCode::deadline_exceeded) return status;
  // Reads that are out come back first; then wait() returns the error.
  lane.note_error(status.code());
  return {};
}

/// Counts in `posted` what the endpoint has taken.
Status ReadDispatcher::post_all(ReadLane& lane, Ticks deadline, std::uint32_t& posted) {
  const std::span<const transport::ReadRequest> reads = lane.reads();
  while (posted < reads.size()) {
    Status status;
    if (closed_) {
      status = {StatusCode::unavailable, "the connection to the memory node was closed"};
    } else if (const std::uint32_t count = room_for(reads.size() - posted); count > 0) {
      status = post_some(reads.subspan(posted, count));
      if (status.ok()) {
        lane.group_.add(count);
        posted += count;
        continue;
      }
    }
    if (!status.ok() && status.code() != StatusCode::resource_exhausted) return status;
    ++stalls_;
    give_up_if_stuck();
    if (now_ticks() > deadline) {
      if (lane.group_.pending() > 0) retire(lane);
      return {StatusCode::deadline_exceeded, "the deadline passed while waiting to read"};
    }
    scheduler_.yield();
  }
  return {};
}

void ReadDispatcher::retire(ReadLane& lane) {
  const std::uint32_t pending = lane.group_.pending();
  lane.group_.done(pending);  // the lane does not wait for them any more
  if (held_ == &lane) {       // its buffer gets no more writes
    held_ = nullptr;
    return;
  }
  retired_.push_back({std::move(lane.buffer_), lane.token_, pending});
  late_in_flight_ += pending;
  lane.token_ += kNextGeneration;
  lane.troubles_.add(Trouble::gave_up);
  (void)take_spare(lane);  // if there is none, the next begin() waits for one
  give_up_if_stuck();
}

bool ReadDispatcher::take_spare(ReadLane& lane) {
  if (spares_.empty()) return false;
  lane.take_buffer(std::move(spares_.back()));
  spares_.pop_back();
  return true;
}

Status ReadDispatcher::wait_for_buffer(ReadLane& lane, Ticks deadline) {
  while (!closed_ && !take_spare(lane)) {
    give_up_if_stuck();
    if (now_ticks() > deadline) {
      if (++in_vain_ >= kMostInVain) close();
      return {StatusCode::deadline_exceeded,
              "the deadline passed while late reads had all buffers"};
    }
    scheduler_.yield();
  }
  if (!closed_) return {};
  return {StatusCode::unavailable, "the connection to the memory node was closed"};
}

void ReadDispatcher::give_up_if_stuck() {
  if (closed_ || late_in_flight_ <= max_outstanding_ / 2) {
    stuck_since_ = 0;
    return;
  }
  const Ticks now = now_ticks();
  if (stuck_since_ == 0) stuck_since_ = now;
  if (now - stuck_since_ > us_to_ticks(kStuckUs)) close();
}

void ReadDispatcher::release_late(std::uint64_t token, std::uint32_t reads) {
  late_ += reads;
  late_in_flight_ -= reads;
  const auto found =
      std::find_if(retired_.begin(), retired_.end(),
                   [token](const Retired& retired) { return retired.token == token; });
  FARVEC_CHECK(found != retired_.end() && found->pending >= reads,
               "a completion of a read that was never posted");
  found->pending -= reads;
  if (found->pending > 0) return;
  in_vain_ = 0;
  spares_.push_back(std::move(found->buffer));
  std::swap(*found, retired_.back());
  retired_.pop_back();
}

void ReadDispatcher::close() {
  endpoint_->close();
  closed_ = true;
  retired_.clear();
  held_ = nullptr;
  in_flight_ = 0;
  late_in_flight_ = 0;
  for (const auto& lane : lanes_) {
    const std::uint32_t pending = lane->group_.pending();
    if (pending == 0) continue;
    lane->troubles_.add(Trouble::failed);
    lane->error_ = StatusCode::unavailable;
    lane->group_.done(pending);
  }
}

bool ReadDispatcher::poll() {
  post_held();
  const std::size_t count = closed_ ? 0 : endpoint_->poll(completions_);
  for (std::size_t i = 0; i < count; ++i) {
    const transport::Completion& completion = completions_[i];
    const std::uint64_t round = completion.token & ~kReadMask;
    ReadLane& lane = *lanes_[(round >> kLaneShift) & kReadMask];
    // Includes late reads: until now the endpoint counted them against its limit.
    in_flight_ -= completion.reads;
    if (lane.token_ != round) {
      release_late(round, completion.reads);
      continue;
    }
    lane.note(completion);
    lane.group_.done(completion.reads);
  }
  return count > 0;
}

}  // namespace farvec::search
