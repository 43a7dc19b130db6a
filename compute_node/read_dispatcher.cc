#include "compute_node/read_dispatcher.h"

#include <algorithm>

namespace farvec::compute_node {
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
      requests_(options.max_reads) {
  FARVEC_CHECK(options.lanes > 0 && options.lanes < (1u << 16));
  FARVEC_CHECK(options.max_reads < (1u << 16) && max_outstanding_ > 0);
  for (Lane& lane : lanes_) {
    lane.group = std::make_unique<coroutines::WaitGroup>(scheduler_);
    lane.buffer = make_buffer();
    lane.arrived.resize(options.max_reads);
  }
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
  for (std::uint32_t i = 0; i < count; ++i) {
    std::byte* const destination = lane.buffer.data() + reads[i].at;
    requests_[i] = {make_token(lane.generation, lane_index, first + i), kRecordsRegion,
                    reads[i].bytes, reads[i].offset, destination};
    lane.arrived[first + i] = {destination, reads[i].bytes};
  }
  if (Status status = endpoint_->post({requests_.data(), count}); !status.ok()) return status;
  lane.group->add(count);
  in_flight_ += count;
  return {};
}

Status ReadDispatcher::post(std::uint32_t lane_index, std::span<const LaneRead> reads,
                            Ticks deadline) {
  FARVEC_CHECK(reads.size() <= requests_.size(), "{} reads", reads.size());
  Lane& lane = lanes_[lane_index];
  lane.error = StatusCode::ok;
  lane.short_read = false;
  std::uint32_t posted = 0;
  while (posted < reads.size()) {
    Status status;
    if (closed_) {
      status = {StatusCode::unavailable, "the connection to the memory node was closed"};
    } else if (const std::uint32_t count = room_for(reads.size() - posted); count > 0) {
      status = post_some(lane_index, reads.subspan(posted, count), posted);
      if (status.ok()) {
        posted += count;
        continue;
      }
    }
    if (!status.ok() && status.code() != StatusCode::resource_exhausted) {
      // What is out already comes back first: wait() then tells.
      if (posted == 0) return status;
      lane.error = status.code();
      return {};
    }
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
  if (spares_.empty()) {
    try {
      spares_.push_back(make_buffer());
    } catch (...) {
      close();  // a core without a buffer ends; no lane may be left waiting
      throw;
    }
  }
  const std::uint32_t pending = lane.group->pending();
  retired_.push_back({std::move(lane.buffer), lane_index, lane.generation, pending});
  late_in_flight_ += pending;
  lane.buffer = std::move(spares_.back());
  spares_.pop_back();
  ++lane.generation;
  while (lane.group->pending() > 0) lane.group->done();  // nobody waits for them any more
  if (retired_.size() > kMaxRetired) close();
  give_up_if_stuck();
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

void ReadDispatcher::release_late(std::uint32_t lane, std::uint32_t generation) {
  ++late_;
  --late_in_flight_;
  const auto found = std::find_if(retired_.begin(), retired_.end(), [&](const Retired& retired) {
    return retired.lane == lane && retired.generation == generation;
  });
  FARVEC_CHECK(found != retired_.end(), "a completion of a read that was never posted");
  if (--found->pending > 0) return;
  spares_.push_back(std::move(found->buffer));
  std::swap(*found, retired_.back());
  retired_.pop_back();
}

void ReadDispatcher::close() {
  endpoint_->close();
  closed_ = true;
  retired_.clear();
  in_flight_ = 0;
  late_in_flight_ = 0;
  for (Lane& lane : lanes_) {
    if (lane.group->pending() > 0) lane.error = StatusCode::unavailable;
    while (lane.group->pending() > 0) lane.group->done();
  }
}

bool ReadDispatcher::poll() {
  const std::size_t count = closed_ ? 0 : endpoint_->poll(completions_);
  for (std::size_t i = 0; i < count; ++i) {
    const transport::Completion& completion = completions_[i];
    const auto lane_index = static_cast<std::uint32_t>((completion.token >> 16) & 0xffff);
    const auto generation = static_cast<std::uint32_t>(completion.token >> 32);
    Lane& lane = lanes_[lane_index];
    --in_flight_;  // a late one too: until now the endpoint counted it against its limit
    if (lane.generation != generation) {
      release_late(lane_index, generation);
      continue;
    }
    note(lane, completion);
    lane.group->done();
  }
  return count > 0;
}

void ReadDispatcher::note(Lane& lane, const transport::Completion& completion) {
  std::span<const std::byte>& arrived = lane.arrived[completion.token & 0xffff];
  if (completion.status == StatusCode::ok) {
    lane.short_read |= completion.bytes != arrived.size();
    if (completion.data != nullptr) {
      arrived = {completion.data, arrived.size()};
      by_reference_ = true;
    }
    return;
  }
  // What a partial search tolerates hides nothing worse.
  if (completion.status != StatusCode::unavailable || lane.error == StatusCode::ok) {
    lane.error = completion.status;
  }
  arrived = {};
}

std::size_t ReadDispatcher::dram_bytes() const {
  std::size_t total = 0;
  for (const Lane& lane : lanes_) total += lane.buffer.size();
  for (const Retired& retired : retired_) total += retired.buffer.size();
  for (const HugeBuffer& spare : spares_) total += spare.size();
  return total;
}

}  // namespace farvec::compute_node
