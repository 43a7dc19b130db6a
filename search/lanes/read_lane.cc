#include "search/lanes/read_lane.h"

#include <algorithm>

#include "base/check.h"
#include "search/lanes/read_dispatcher.h"

namespace farvec::search {

ReadLane::ReadLane(ReadDispatcher& dispatcher, std::uint64_t token)
    : dispatcher_(dispatcher),
      group_(dispatcher.scheduler()),
      token_(token),
      place_bytes_(dispatcher.options().place_bytes),
      lane_bytes_(dispatcher.options().lane_bytes),
      lost_(dispatcher.options().max_reads) {}

/// Fills in what requests have in common or get from their number.
void ReadLane::make_requests(std::size_t count) {
  request_store_.reserve(count);  // never more than is counted
  request_store_.resize(count);
  requests_ = request_store_.data();
  room_ = static_cast<std::uint32_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    transport::ReadRequest& request = requests_[i];
    request.token = token_ + i;
    request.region = dispatcher_.options().region;
    if (place_bytes_ > 0) request.destination = buffer_.data() + i * place_bytes_;
  }
}

void ReadLane::grow() {
  const std::uint32_t most = dispatcher_.options().max_reads;
  FARVEC_CHECK(room_ < most, "more than {} reads", room_);
  make_requests(std::min(2 * room_, most));
}

void ReadLane::take_buffer(HugeBuffer buffer) {
  buffer_ = std::move(buffer);
  make_requests(std::max(room_, ReadDispatcher::first_reads(dispatcher_.options())));
}

Status ReadLane::settle(Ticks deadline) {
  if (buffer_.size() < lane_bytes_) {
    if (Status status = dispatcher_.wait_for_buffer(*this, deadline); !status.ok()) return status;
  }
  if (troubles_.has(Trouble::moved)) make_requests(room_);
  troubles_.clear();
  return {};
}

bool ReadLane::by_reference() const {
  return dispatcher_.region_ != nullptr;
}

Status ReadLane::post(Ticks deadline) {
  return dispatcher_.post(*this, deadline);
}

Status ReadLane::hold(Ticks deadline) {
  return dispatcher_.hold(*this, deadline);
}

Status ReadLane::verdict(bool partial) {
  if (group_.pending() > 0) {
    dispatcher_.retire(*this);
    return {StatusCode::deadline_exceeded, "the deadline passed before the records came"};
  }
  if (troubles_.has(Trouble::refused)) return refused_;
  if (troubles_.has(Trouble::failed)) {
    const bool tolerated = partial && !dispatcher_.closed() && error_ == StatusCode::unavailable;
    if (!tolerated) return {error_, "a read from the memory node failed"};
  }
  if (troubles_.has(Trouble::cut_short))
    return {StatusCode::data_loss, "a record came back shorter than it is"};
  return {};
}

void ReadLane::note(const transport::Completion& completion) {
  const std::uint64_t read = completion.token - token_;
  if (completion.status == StatusCode::ok) {
    const bool as_asked = completion.bytes == transport::Completion::kAsAsked;
    if (!as_asked && completion.bytes != requests_[read].bytes) troubles_.add(Trouble::cut_short);
    if (completion.region != nullptr) dispatcher_.region_ = completion.region;
    return;
  }
  note_error(completion.status);
  note_lost(read, completion.reads);
}

/// An error that a partial search tolerates does not hide a worse one.
void ReadLane::note_error(StatusCode code) {
  if (code != StatusCode::unavailable || !troubles_.has(Trouble::failed)) error_ = code;
  troubles_.add(Trouble::failed);
}

void ReadLane::note_lost(std::size_t first, std::size_t count) {
  if (!troubles_.has(Trouble::lost)) std::fill(lost_.begin(), lost_.end(), std::uint8_t{0});
  troubles_.add(Trouble::lost);
  std::fill_n(lost_.begin() + static_cast<long>(first), count, std::uint8_t{1});
}

}  // namespace farvec::search
