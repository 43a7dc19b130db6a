#include "transport/fabric/fabric_endpoint.h"

#include <fmt/format.h>
#include <rdma/fi_rma.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "transport/fabric/failure.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;

/// Calls of the provider per poll() that bring completions; some bring one at a time.
constexpr int kReapsPerPoll = 16;

/// `error` is libfabric's, positive.
Status failure_of(int error) {
  switch (fabric_failure(error)) {
    case StatusCode::failed_precondition:
      return {StatusCode::failed_precondition, "the memory node refused a read of its regions"};
    case StatusCode::internal:
      return {StatusCode::internal, "a read failed at this end of the fabric"};
    default:
      return {StatusCode::unavailable, "the fabric connection to the memory node is gone"};
  }
}

}  // namespace

FabricEndpoint::FabricEndpoint(FabricOptions options)
    : options_(std::move(options)),
      grant_(decode_grant(std::as_bytes(std::span(options_.grant)), options_.peer)),
      flights_(options_.max_outstanding),
      waiting_(options_.max_outstanding),
      started_(kMaxRequests),
      finished_(options_.max_outstanding) {
  const auto end = Clock::now() + options_.connect_timeout;
  open();
  connect(end);
}

FabricEndpoint::~FabricEndpoint() {
  close();
}

Status FabricEndpoint::check_all(std::span<const ReadRequest> reads) const {
  if (reads.size() + finished_.size() > free_flights_.size()) {
    return {StatusCode::resource_exhausted, "too many reads outstanding"};
  }
  const EndpointLimits bounds = limits();
  for (const ReadRequest& read : reads) {
    if (Status status = check_read(read, region_bytes(read.region), bounds); !status.ok()) {
      return status;
    }
    if (read.bytes > 0 && registered_.find(read.destination, read.bytes) == nullptr) {
      return {StatusCode::invalid_argument, "the destination was not registered"};
    }
  }
  return {};
}

Status FabricEndpoint::post(std::span<const ReadRequest> reads) {
  if (!port_) {
    return {StatusCode::unavailable,
            failure_.ok() ? "the fabric endpoint is closed" : failure_.message()};
  }
  if (Status status = check_all(reads); !status.ok()) return status;
  for (const ReadRequest& read : reads) take_off(read, grant_.regions[read.region]);
  start_pieces();
  return {};
}

void FabricEndpoint::take_off(const ReadRequest& read, const FabricGrantRegion& region) {
  if (read.bytes == 0) {  // needs no request
    finished_.push({read.token, StatusCode::ok, 0});
    return;
  }
  const std::uint32_t index = free_flights_.back();
  free_flights_.pop_back();
  const FabricRegion& place = *registered_.find(read.destination, read.bytes);
  Flight& flight = flights_[index];
  flight.token = read.token;
  flight.address = region.address + read.offset;
  flight.key = region.key;
  flight.destination = read.destination;
  flight.descriptor = place ? fi_mr_desc(place.get()) : nullptr;
  flight.bytes = read.bytes;
  flight.to_start = read.bytes;
  flight.pieces_out = 0;
  flight.used = true;
  waiting_.push(index);
}

/// Starts as many pieces as there are requests and as the provider takes; poll() starts the others.
void FabricEndpoint::start_pieces() {
  while (!waiting_.empty() && !free_requests_.empty()) {
    const std::uint32_t index = waiting_.front();
    Flight& flight = flights_[index];
    const bool flight_ends = flight.to_start <= piece_bytes_;
    const bool last = free_requests_.size() == 1 || (flight_ends && waiting_.size() == 1);
    const std::uint32_t number = free_requests_.back();
    requests_[number].flight = index;
    const ssize_t result = start_piece(flight, requests_[number], last);
    note_stall(result == -FI_EAGAIN);
    if (result == -FI_EAGAIN) return;
    if (result != 0) {
      const int error = static_cast<int>(-result);
      return fail(failure_of(error), fabric_error(error), index);
    }
    free_requests_.pop_back();
    if (in_order_) started_.push(number);
    if (flight_ends) waiting_.pop();
  }
}

ssize_t FabricEndpoint::start_piece(Flight& flight, Request& request, bool last) {
  const auto bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(flight.to_start, piece_bytes_));
  const iovec local{flight.destination, bytes};
  const fi_rma_iov remote{flight.address, bytes, flight.key};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &flight.descriptor;
  message.iov_count = 1;
  message.addr = node_;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = &request.context;
  const std::uint64_t signal = last || !in_order_ ? FI_COMPLETION : 0;
  const ssize_t result = fi_readmsg(&port_->endpoint(), &message, signal | (last ? 0 : FI_MORE));
  if (result != 0) return result;
  flight.destination += bytes;
  flight.address += bytes;
  flight.to_start -= bytes;
  ++flight.pieces_out;
  return 0;
}

void FabricEndpoint::note_stall(bool stalled) {
  // While it connects, the time limit for connecting applies.
  if (!stalled || !connected_ || free_requests_.size() < requests_.size()) {
    stalled_since_ = 0;
    return;
  }
  const Ticks now = now_ticks();
  if (stalled_since_ == 0) stalled_since_ = now;
  const auto bound_us = std::chrono::microseconds(options_.stall_timeout).count();
  if (ticks_to_us(now - stalled_since_) > static_cast<double>(bound_us)) {
    fail({StatusCode::unavailable, "the memory node takes no fabric connection"}, "stalled");
  }
}

std::size_t FabricEndpoint::poll(std::span<Completion> completions) {
  if (port_ && free_flights_.size() < flights_.size()) {
    reap();
    if (port_) start_pieces();
  }
  std::size_t moved = 0;
  for (; moved < completions.size() && !finished_.empty(); ++moved) {
    completions[moved] = finished_.front();
    finished_.pop();
  }
  return moved;
}

void FabricEndpoint::reap() {
  std::array<fi_cq_entry, 16> entries;
  for (int i = 0; i < kReapsPerPoll; ++i) {
    const ssize_t count = fi_cq_read(&port_->queue(), entries.data(), entries.size());
    if (count == -FI_EAGAIN) return;
    if (count == -FI_EAVAIL) return on_error();
    if (count < 0) {
      const int error = static_cast<int>(-count);
      return fail(failure_of(error), fabric_error(error));
    }
    for (ssize_t k = 0; k < count; ++k) {
      on_done(*static_cast<Request*>(entries[static_cast<std::size_t>(k)].op_context));
    }
  }
}

void FabricEndpoint::on_done(Request& request) {
  const auto number = static_cast<std::uint32_t>(&request - requests_.data());
  if (!in_order_) return finish_piece(number);
  // The requests before it asked for no completion.
  for (bool found = false; !found && !started_.empty(); started_.pop()) {
    found = started_.front() == number;
    finish_piece(started_.front());
  }
}

void FabricEndpoint::finish_piece(std::uint32_t request) {
  const std::uint32_t index = requests_[request].flight;
  free_requests_.push_back(request);
  Flight& flight = flights_[index];
  if (--flight.pieces_out > 0 || flight.to_start > 0) return;
  finished_.push({flight.token, StatusCode::ok, flight.bytes});
  flight.used = false;
  free_flights_.push_back(index);
}

void FabricEndpoint::on_error() {
  fi_cq_err_entry entry{};
  std::array<char, 256> text{};
  if (fi_cq_readerr(&port_->queue(), &entry, 0) != 1) return;  // it was not one after all
  const char* words =
      fi_cq_strerror(&port_->queue(), entry.prov_errno, entry.err_data, text.data(), text.size());
  std::uint32_t flight = kNoFlight;
  if (entry.op_context != nullptr) flight = static_cast<Request*>(entry.op_context)->flight;
  fail(failure_of(entry.err),
       fmt::format("{}, {}", fabric_error(entry.err), words == nullptr ? "" : words), flight);
}

/// Closes the endpoint, which gives every destination back.
void FabricEndpoint::fail(Status status, std::string text, std::uint32_t failed_flight) {
  failure_ = status;
  failure_text_ = std::move(text);
  if (connected_) spdlog::warn("{}: {} ({})", options_.peer, status.message(), failure_text_);
  release_port();
  for (std::uint32_t i = 0; i < flights_.size(); ++i) {
    if (!flights_[i].used) continue;
    const StatusCode code = i == failed_flight ? status.code() : StatusCode::unavailable;
    finished_.push({flights_[i].token, code, 0});
    flights_[i].used = false;
    free_flights_.push_back(i);
  }
}

void FabricEndpoint::release_port() {
  if (!port_) return;
  // Otherwise they are bound to an endpoint that is gone.
  if (port_->has_mode(FI_MR_ENDPOINT)) registered_.clear();
  port_->close_endpoint();
  registered_.clear();
  port_.reset();
  waiting_.clear();
  started_.clear();
}

EndpointLimits FabricEndpoint::limits() const {
  return {options_.max_outstanding, kMaxReadBytes};
}

std::uint64_t FabricEndpoint::region_bytes(RegionId region) const {
  return region < grant_.regions.size() ? grant_.regions[region].bytes : 0;
}

std::string FabricEndpoint::description() const {
  return description_;
}

void FabricEndpoint::peer_lost() {
  if (!port_) return;
  fail({StatusCode::unavailable, "the memory node is gone"}, "its lease was lost");
}

void FabricEndpoint::close() {
  release_port();
  finished_.clear();
}

}  // namespace farvec::transport
