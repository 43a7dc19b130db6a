#include "search/read_dispatcher.h"

#include <algorithm>

namespace farvec::search {
namespace {

constexpr transport::RegionId kRecordsRegion = 0;

// A token is generation (32 bits), lane (16), read (16).
std::uint64_t make_token(std::uint32_t generation, std::uint32_t lane, std::uint32_t read) {
  return (std::uint64_t{generation} << 32) | (lane << 16) | read;
}

}  // namespace

ReadDispatcher::ReadDispatcher(std::unique_ptr<transport::Endpoint> endpoint,
                               coroutines::Scheduler& scheduler, DispatcherOptions options)
    : endpoint_(std::move(endpoint)),
      scheduler_(scheduler),
      options_(options),
      max_outstanding_(endpoint_->limits().max_outstanding),
      lanes_(options.lanes),
      requests_(options.max_reads),
      completions_(kPolledAtOnce) {
  FARVEC_CHECK(options.lanes > 0 && options.lanes < (1u << 16));
  FARVEC_CHECK(options.max_reads <= kMostReads && max_outstanding_ > 0);
  for (Lane& lane : lanes_) {
    lane.group.emplace(scheduler_);
    lane.buffer = make_buffer();
    lane.lost.resize(options.max_reads);
  }
  // Both never grow: there are no other buffers.
  retired_.reserve(options.lanes + spare_buffers(options));
  spares_.reserve(options.lanes + spare_buffers(options));
  while (spares_.size() < spare_buffers(options)) spares_.push_back(make_buffer());
}

std::uint32_t ReadDispatcher::spare_buffers(const DispatcherOptions& options) {
  const std::size_t fitting = kSpareBytes / std::max<std::size_t>(options.lane_bytes, 1);
  return static_cast<std::uint32_t>(std::min<std::size_t>(options.lanes, fitting));
}

std::size_t ReadDispatcher::memory_bytes(const DispatcherOptions& options) {
  const std::size_t buffers = std::size_t{options.lanes} + spare_buffers(options);
  return buffers * options.lane_bytes + std::size_t{options.lanes} * options.max_reads +
         options.max_reads * sizeof(transport::ReadRequest) +
         kPolledAtOnce * sizeof(transport::Completion);
}

HugeBuffer ReadDispatcher::make_buffer() const {
  HugeBuffer buffer(options_.lane_bytes);
  endpoint_->register_memory(buffer.span());
  return buffer;
}

ReadDispatcher::~ReadDispatcher() {
  endpoint_->close();
}

/// How many of so many reads to post now; 0 when it is better to wait for more room.
std::uint32_t ReadDispatcher::room_for(std::size_t reads) const {
  const std::uint32_t room = max_outstanding_ - in_flight_;
  if (reads <= room) return static_cast<std::uint32_t>(reads);
  return room >= std::max(max_outstanding_ / 4, 1u) && reads > max_outstanding_ / 4 ? room : 0;
}

Status ReadDispatcher::post_some(std::uint32_t lane_index, std::span<const LaneRead> reads,
                                 std::uint32_t first) {
  Lane& lane = lanes_[lane_index];
  const auto count = static_cast<std::uint32_t>(reads.size());
  // Known to the compiler not to change in the loop.
  const std::size_t lane_bytes = options_.lane_bytes;
  std::byte* const buffer = lane.buffer.data();
  transport::ReadRequest* request = requests_.data();
  std::uint64_t token = make_token(lane.generation, lane_index, first);
  for (const LaneRead& read : reads) {
    if (read.at > lane_bytes || read.bytes > lane_bytes - read.at) {
      return {StatusCode::internal, "a read does not fit the buffer of its search"};
    }
    *request++ = {token++, kRecordsRegion, read.bytes, read.offset, buffer + read.at};
  }
  if (Status status = endpoint_->post({requests_.data(), count}); !status.ok()) return status;
  in_flight_ += count;
  return {};
}

inline ReadDispatcher::Lane& ReadDispatcher::begin(std::uint32_t lane_index,
                                                   std::span<const LaneRead> reads) {
  FARVEC_CHECK(reads.size() <= requests_.size(), "{} reads", reads.size());
  Lane& lane = lanes_[lane_index];
  lane.error = StatusCode::ok;
  lane.refused = {};
  lane.short_read = false;
  lane.has_lost = false;
  lane.reads = reads;
  return lane;
}

Status ReadDispatcher::hold(std::uint32_t lane_index, std::span<const LaneRead> reads,
                            Ticks deadline) {
  post_held();
  const bool room = held_ == kNoLane && reads.size() <= max_outstanding_ - in_flight_;
  if (closed_ || !room || reads.empty() || lanes_[lane_index].buffer.size() < options_.lane_bytes) {
    return post(lane_index, reads, deadline);
  }
  begin(lane_index, reads).group->add(static_cast<std::uint32_t>(reads.size()));
  held_ = lane_index;
  return {};
}

/// They stay held back while the endpoint has no room.
void ReadDispatcher::post_held_lane() {
  Lane& lane = lanes_[held_];
  const Status status = post_some(held_, lane.reads, 0);
  if (status.code() == StatusCode::resource_exhausted) {
    ++stalls_;
    give_up_if_stuck();
    return;
  }
  held_ = kNoLane;
  if (status.ok()) return;
  lane.refused = status;
  lane.group->done_well(lane.group->pending());
}

Status ReadDispatcher::post(std::uint32_t lane_index, std::span<const LaneRead> reads,
                            Ticks deadline) {
  post_held();
  Lane& lane = begin(lane_index, reads);
  if (lane.buffer.size() < options_.lane_bytes) {
    if (Status status = wait_for_buffer(lane, deadline); !status.ok()) return status;
  }
  std::uint32_t posted = 0;
  const Status status = post_all(lane_index, reads, deadline, posted);
  if (status.ok()) return {};
  // Nothing brings the rest, and where it was to lie is what earlier reads have left.
  note_lost(lane, posted, reads.size() - posted);
  if (posted == 0 || status.code() == StatusCode::deadline_exceeded) return status;
  // What is out already comes back first: wait() then tells.
  note_error(lane, status.code());
  return {};
}

/// Counts in `posted` what the endpoint has taken.
Status ReadDispatcher::post_all(std::uint32_t lane_index, std::span<const LaneRead> reads,
                                Ticks deadline, std::uint32_t& posted) {
  Lane& lane = lanes_[lane_index];
  while (posted < reads.size()) {
    Status status;
    if (closed_) {
      status = {StatusCode::unavailable, "the connection to the memory node was closed"};
    } else if (const std::uint32_t count = room_for(reads.size() - posted); count > 0) {
      status = post_some(lane_index, reads.subspan(posted, count), posted);
      if (status.ok()) {
        lane.group->add(count);
        posted += count;
        continue;
      }
    }
    if (!status.ok() && status.code() != StatusCode::resource_exhausted) return status;
    ++stalls_;
    give_up_if_stuck();
    if (now_ticks() > deadline) {
      if (lane.group->pending() > 0) retire(lane_index);
      return {StatusCode::deadline_exceeded, "the deadline passed while waiting to read"};
    }
    scheduler_.yield();
  }
  return {};
}

void ReadDispatcher::retire(std::uint32_t lane_index) {
  Lane& lane = lanes_[lane_index];
  const std::uint32_t pending = lane.group->pending();
  if (held_ == lane_index) {  // nobody writes to its buffer
    held_ = kNoLane;
    lane.group->done_well(pending);
    return;
  }
  retired_.push_back({std::move(lane.buffer), lane_index, lane.generation, pending});
  late_in_flight_ += pending;
  ++lane.generation;
  while (lane.group->pending() > 0) lane.group->done();  // nobody waits for them any more
  (void)take_spare(lane);                                // else the next post() waits for one
  give_up_if_stuck();
}

bool ReadDispatcher::take_spare(Lane& lane) {
  if (spares_.empty()) return false;
  lane.buffer = std::move(spares_.back());
  spares_.pop_back();
  return true;
}

Status ReadDispatcher::wait_for_buffer(Lane& lane, Ticks deadline) {
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

void ReadDispatcher::release_late(std::uint32_t lane, std::uint32_t generation,
                                  std::uint32_t reads) {
  late_ += reads;
  late_in_flight_ -= reads;
  const auto found = std::find_if(retired_.begin(), retired_.end(), [&](const Retired& retired) {
    return retired.lane == lane && retired.generation == generation;
  });
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
  held_ = kNoLane;
  in_flight_ = 0;
  late_in_flight_ = 0;
  for (Lane& lane : lanes_) {
    if (lane.group->pending() > 0) lane.error = StatusCode::unavailable;
    while (lane.group->pending() > 0) lane.group->done();
  }
}

bool ReadDispatcher::poll() {
  post_held();
  const std::size_t count = closed_ ? 0 : endpoint_->poll(completions_);
  for (std::size_t i = 0; i < count; ++i) {
    const transport::Completion& completion = completions_[i];
    const auto lane_index = static_cast<std::uint32_t>((completion.token >> 16) & 0xffff);
    const auto generation = static_cast<std::uint32_t>(completion.token >> 32);
    Lane& lane = lanes_[lane_index];
    // Late ones too: until now the endpoint counted them against its limit.
    in_flight_ -= completion.reads;
    if (lane.generation != generation) {
      release_late(lane_index, generation, completion.reads);
      continue;
    }
    note(lane, completion);
    lane.group->done_well(completion.reads);
  }
  return count > 0;
}

void ReadDispatcher::note(Lane& lane, const transport::Completion& completion) {
  const std::size_t read = completion.token & 0xffff;
  if (completion.status == StatusCode::ok) {
    const bool as_asked = completion.bytes == transport::Completion::kAsAsked;
    lane.short_read |= !as_asked && completion.bytes != lane.reads[read].bytes;
    if (completion.region != nullptr) region_ = completion.region;
    return;
  }
  note_error(lane, completion.status);
  note_lost(lane, read, completion.reads);
}

/// What a partial search tolerates hides nothing worse.
void ReadDispatcher::note_error(Lane& lane, StatusCode code) {
  if (code != StatusCode::unavailable || lane.error == StatusCode::ok) lane.error = code;
}

void ReadDispatcher::note_lost(Lane& lane, std::size_t first, std::size_t count) {
  if (!lane.has_lost) std::fill(lane.lost.begin(), lane.lost.end(), std::uint8_t{0});
  lane.has_lost = true;
  std::fill_n(lane.lost.begin() + static_cast<long>(first), count, std::uint8_t{1});
}

}  // namespace farvec::search
