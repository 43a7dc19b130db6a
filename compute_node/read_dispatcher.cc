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
  FARVEC_CHECK(!options.in_place || endpoint_->limits().in_place);
  for (Lane& lane : lanes_) {
    lane.group = std::make_unique<coroutines::WaitGroup>(scheduler_);
    if (!options_.in_place) lane.buffer = HugeBuffer(graph::kMaxWidth * std::size_t{slot_bytes_});
  }
}

ReadDispatcher::~ReadDispatcher() {
  endpoint_->close();
}

void ReadDispatcher::prepare(std::uint32_t lane_index, std::span<const layout::Extent> extents) {
  Lane& lane = lanes_[lane_index];
  for (std::uint32_t i = 0; i < extents.size(); ++i) {
    std::byte* destination =
        options_.in_place ? nullptr : lane.buffer.data() + std::size_t{i} * slot_bytes_;
    requests_[i] = {make_token(lane.generation, lane_index, i), kRecordsRegion, extents[i].bytes,
                    extents[i].offset, destination};
    const std::byte* at =
        options_.in_place ? endpoint_->mapped(kRecordsRegion) + extents[i].offset : destination;
    lane.arrived[i] = {at, extents[i].bytes};
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

Status ReadDispatcher::wait(std::uint32_t lane_index, Ticks deadline) {
  Lane& lane = lanes_[lane_index];
  const Status waited = lane.group->wait(deadline);
  if (lane.group->pending() > 0) {
    retire(lane);
    return {StatusCode::deadline_exceeded, "the deadline passed before the records came"};
  }
  if (lane.error != StatusCode::ok) return {lane.error, "a read from the memory node failed"};
  if (lane.short_read) return {StatusCode::data_loss, "a record came back shorter than it is"};
  return waited;
}

void ReadDispatcher::retire(Lane& lane) {
  ++lane.generation;
  while (lane.group->pending() > 0) lane.group->done();  // nobody waits for them any more
  if (options_.in_place) return;
  retired_.push_back(std::move(lane.buffer));
  lane.buffer = HugeBuffer(graph::kMaxWidth * std::size_t{slot_bytes_});
  if (retired_.size() > kMaxRetired) {
    endpoint_->close();
    closed_ = true;
    retired_.clear();
  }
}

bool ReadDispatcher::poll() {
  const std::size_t count = closed_ ? 0 : endpoint_->poll(completions_);
  for (std::size_t i = 0; i < count; ++i) {
    const transport::Completion& completion = completions_[i];
    Lane& lane = lanes_[(completion.token >> 16) & 0xffff];
    --in_flight_;  // a late one too: until now the endpoint counted it against its limit
    if (lane.generation != static_cast<std::uint32_t>(completion.token >> 32)) {
      ++late_;
      continue;
    }
    if (completion.status != StatusCode::ok) {
      lane.error = completion.status;
    } else if (completion.bytes != lane.arrived[completion.token & 0xffff].size()) {
      lane.short_read = true;
    }
    lane.group->done();
  }
  return count > 0;
}

std::size_t ReadDispatcher::dram_bytes() const {
  std::size_t total = 0;
  for (const Lane& lane : lanes_) total += lane.buffer.size();
  for (const HugeBuffer& buffer : retired_) total += buffer.size();
  return total;
}

}  // namespace farvec::compute_node
