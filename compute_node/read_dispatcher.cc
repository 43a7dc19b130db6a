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
      slot_bytes_(static_cast<std::uint32_t>(round_up(options.max_record_bytes, kCacheLineBytes))),
      max_outstanding_(endpoint_->limits().max_outstanding),
      lanes_(options.lanes) {
  FARVEC_CHECK(options.lanes > 0 && options.lanes < (1u << 16));
  for (Lane& lane : lanes_) {
    lane.group = std::make_unique<coroutines::WaitGroup>(scheduler_);
    lane.buffer = make_buffer();
  }
}

HugeBuffer ReadDispatcher::make_buffer() const {
  HugeBuffer buffer(graph::kMaxWidth * std::size_t{slot_bytes_});
  endpoint_->register_memory(buffer.span());
  return buffer;
}

ReadDispatcher::~ReadDispatcher() {
  endpoint_->close();
}

void ReadDispatcher::prepare(std::uint32_t lane_index, std::span<const layout::Extent> extents) {
  Lane& lane = lanes_[lane_index];
  for (std::uint32_t i = 0; i < extents.size(); ++i) {
    std::byte* const destination = lane.buffer.data() + std::size_t{i} * slot_bytes_;
    requests_[i] = {make_token(lane.generation, lane_index, i), kRecordsRegion, extents[i].bytes,
                    extents[i].offset, destination};
    lane.arrived[i] = {destination, extents[i].bytes};
  }
  lane.error = StatusCode::ok;
  lane.short_read = false;
}

Status ReadDispatcher::post(std::uint32_t lane_index, std::span<const layout::Extent> extents,
                            Ticks deadline) {
  const auto reads = static_cast<std::uint32_t>(extents.size());
  if (reads > max_outstanding_) {
    return {StatusCode::invalid_argument, "the width exceeds what the endpoint may have in flight"};
  }
  for (;;) {
    if (closed_) return {StatusCode::unavailable, "the connection to the memory node was closed"};
    if (in_flight_ + reads <= max_outstanding_) {
      prepare(lane_index, extents);
      const Status status = endpoint_->post({requests_, reads});
      if (status.ok()) break;
      if (status.code() != StatusCode::resource_exhausted) return status;
    }
    ++stalls_;
    if (now_ticks() > deadline) {
      return {StatusCode::deadline_exceeded, "the deadline passed while waiting to read"};
    }
    scheduler_.yield();
  }
  lanes_[lane_index].group->add(reads);
  in_flight_ += reads;
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
  if (retired_.size() > kMaxRetired || late_in_flight_ > max_outstanding_ / 2) close();
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
