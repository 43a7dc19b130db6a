#include "transport/verbs/verbs_endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "transport/verbs/work_status.h"

namespace farvec::transport {
namespace {

std::uint32_t piece_bytes(const VerbsOptions& options, const DeviceLimits& device) {
  if (options.piece_bytes == 0) return device.max_message_bytes;
  return std::min(options.piece_bytes, device.max_message_bytes);
}

}  // namespace

VerbsEndpoint::VerbsEndpoint(VerbsOptions options)
    : options_(std::move(options)),
      connection_({options_.peer, VerbsRole::reader, options_.max_outstanding, 0}),
      max_outstanding_(connection_.max_requests()),
      piece_bytes_(piece_bytes(options_, connection_.device())),
      chain_(max_outstanding_),
      pieces_(max_outstanding_),
      flights_(options_.max_outstanding),
      finished_(options_.max_outstanding) {}

VerbsEndpoint::~VerbsEndpoint() {
  close();
}

void VerbsEndpoint::register_memory(std::span<std::byte> memory) {
  (void)connection_.register_range(memory, IBV_ACCESS_LOCAL_WRITE);
}

std::uint32_t VerbsEndpoint::pieces_of(std::uint32_t bytes) const {
  return bytes / piece_bytes_ + (bytes % piece_bytes_ != 0 ? 1 : 0);
}

/// Fills the chain; nothing is posted yet. A read of no bytes needs no work request.
Status VerbsEndpoint::prepare(std::span<const ReadRequest> reads) {
  const EndpointLimits bounds = limits();
  std::uint64_t in_flight = next_request_ - 1 - done_request_;
  std::size_t used = 0;
  for (const ReadRequest& read : reads) {
    if (Status status = check_read(read, region_bytes(read.region), bounds); !status.ok()) {
      return status;
    }
    const ibv_mr* local = connection_.registration(read.destination, read.bytes);
    if (read.bytes > 0 && local == nullptr) {
      return {StatusCode::invalid_argument, "the destination was not registered"};
    }
    const std::uint32_t count = pieces_of(read.bytes);
    if (count > max_outstanding_ - in_flight) {
      return {StatusCode::resource_exhausted, "too many reads outstanding"};
    }
    in_flight += count;
    const VerbsGrant& grant = connection_.grants()[read.region];
    for (std::uint32_t done = 0; done < read.bytes; done += piece_bytes_, ++used) {
      pieces_[used] = {reinterpret_cast<std::uintptr_t>(read.destination + done),
                       std::min(piece_bytes_, read.bytes - done), local->lkey};
      ibv_send_wr& request = chain_[used];
      request = {};
      request.wr_id = next_request_ + used;
      request.opcode = IBV_WR_RDMA_READ;
      request.sg_list = &pieces_[used];
      request.num_sge = 1;
      request.wr.rdma.remote_addr = grant.address + read.offset + done;
      request.wr.rdma.rkey = grant.key;
      if (options_.tuning.signal_every_read) request.send_flags = IBV_SEND_SIGNALED;
      if (used > 0)
        chain_[used - 1].next = options_.tuning.doorbell_every_read ? nullptr : &request;
    }
  }
  if (used > 0) chain_[used - 1].send_flags = IBV_SEND_SIGNALED;
  pieces_used_ = used;
  return {};
}

Status VerbsEndpoint::post(std::span<const ReadRequest> reads) {
  if (flights_.empty()) connection_.look();  // otherwise poll() does it
  if (!connection_.status().ok()) return connection_.status();
  if (flights_.size() + finished_.size() + reads.size() > options_.max_outstanding) {
    return {StatusCode::resource_exhausted, "too many reads outstanding"};
  }
  if (Status status = prepare(reads); !status.ok()) return status;
  if (Status status = ring_doorbell(); !status.ok()) return status;
  for (const ReadRequest& read : reads) {
    next_request_ += pieces_of(read.bytes);
    flights_.push({read.token, next_request_ - 1, read.bytes});
  }
  finish_through(done_request_, StatusCode::ok);  // reads of no bytes wait for nothing
  return {};
}

Status VerbsEndpoint::ring_doorbell() {
  for (std::size_t first = 0; first < pieces_used_;) {
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(&connection_.queue_pair(), &chain_[first], &bad) != 0) {
      // Some of the chain may be on its way. Its destinations are given back through the error
      // state, like those of every other read of this connection.
      connection_.fail({StatusCode::internal, "the driver refused a chain of reads"});
      return connection_.status();
    }
    first = options_.tuning.doorbell_every_read ? first + 1 : pieces_used_;
  }
  return {};
}

void VerbsEndpoint::finish_through(std::uint64_t request, StatusCode status) {
  while (!flights_.empty() && flights_.front().last_request <= request) {
    const Flight& flight = flights_.front();
    finished_.push({flight.token, status, status == StatusCode::ok ? flight.bytes : 0});
    flights_.pop();
  }
  done_request_ = std::max(done_request_, request);
}

void VerbsEndpoint::on_work_completion(const ibv_wc& completion) {
  StatusCode status = status_of(completion.status);
  if (status != StatusCode::ok) {
    connection_.fail({StatusCode::unavailable, "the RDMA connection is gone: a read has failed"});
    // Without a port, requests fail with errors of this end.
    if (connection_.ended_by_device()) status = StatusCode::unavailable;
    // Requests complete in order: what was posted before the failed one has arrived.
    if (!failed_request_) finish_through(completion.wr_id - 1, StatusCode::ok);
    failed_request_ = true;
  }
  finish_through(completion.wr_id, status);
}

std::size_t VerbsEndpoint::poll(std::span<Completion> completions) {
  if (closed_) return 0;
  if (!flights_.empty()) {
    ibv_wc batch[16];
    const int count = ibv_poll_cq(&connection_.completions(), 16, batch);
    for (int i = 0; i < count; ++i) on_work_completion(batch[i]);
    if (count <= 0) connection_.look();
  }
  std::size_t moved = 0;
  for (; moved < completions.size() && !finished_.empty(); ++moved) {
    completions[moved] = finished_.front();
    finished_.pop();
  }
  return moved;
}

EndpointLimits VerbsEndpoint::limits() const {
  return {max_outstanding_, 1u << 30};
}

std::uint64_t VerbsEndpoint::region_bytes(RegionId region) const {
  return connection_.region_bytes(region);
}

std::string VerbsEndpoint::description() const {
  return fmt::format("verbs({}, {}, MTU {}, {} reads on the wire)", device().device,
                     connection_.peer(), path_mtu_bytes(), connection_.max_reads());
}

void VerbsEndpoint::peer_lost() {
  connection_.fail({StatusCode::unavailable, "the peer of the RDMA connection is lost"});
}

void VerbsEndpoint::close() {
  if (closed_) return;
  closed_ = true;
  connection_.close();
  flights_.clear();
  finished_.clear();
}

}  // namespace farvec::transport
