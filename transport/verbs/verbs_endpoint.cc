#include "transport/verbs/verbs_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "transport/verbs/local_device.h"
#include "transport/verbs/registration.h"
#include "transport/verbs/resolve.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How often poll() asks the connection manager whether the peer has gone: a system call.
constexpr double kLookPeriodUs = 2000;
constexpr std::uint64_t kReceiveId = ~std::uint64_t{0};
/// 7 retries of 4.096 us * 2^14 = 67 ms: a peer that is silent is given up after about half a
/// second.
constexpr std::uint8_t kRetries = 7;

/// What a failed work completion means for the one who asked.
StatusCode status_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return StatusCode::ok;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return StatusCode::failed_precondition;  // the peer is there and refuses
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_WR_FLUSH_ERR:
    case IBV_WC_REM_ABORT_ERR:
      return StatusCode::unavailable;
    default:
      return StatusCode::internal;  // this end: a length, a local key, the queue pair itself
  }
}

}  // namespace

VerbsEndpoint::VerbsEndpoint(VerbsOptions options)
    : options_(std::move(options)),
      peer_(fmt::format("{}:{}", options_.host, options_.port)),
      channel_(open_event_channel()),
      flights_(options_.max_outstanding),
      finished_(options_.max_outstanding) {
  connect(Clock::now() + options_.connect_timeout);
}

VerbsEndpoint::~VerbsEndpoint() {
  close();
}

void VerbsEndpoint::connect(Clock::time_point end) {
  const auto address = resolve_rdma_address(options_.host, options_.port);
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
    throw SystemError(errno, "making an RDMA connection to {}", peer_);
  }
  connection_.reset(id);
  const auto bound = static_cast<int>(options_.connect_timeout.count());
  sockaddr_storage from{};
  if (options_.device.chosen()) from = local_address(options_.device, address->ai_family);
  auto* source = options_.device.chosen() ? reinterpret_cast<sockaddr*>(&from) : nullptr;
  if (rdma_resolve_addr(id, source, address->ai_addr, bound) != 0) {
    throw SystemError(errno, "finding the RDMA device towards {}", peer_);
  }
  await_event(*channel_, RDMA_CM_EVENT_ADDR_RESOLVED, end, peer_);
  if (rdma_resolve_route(id, bound) != 0) {
    throw SystemError(errno, "finding the RDMA route to {}", peer_);
  }
  await_event(*channel_, RDMA_CM_EVENT_ROUTE_RESOLVED, end, peer_);
  make_queue_pair();
  exchange_hello(end);
}

void VerbsEndpoint::make_queue_pair() {
  device_ = query_limits(*connection_);
  max_outstanding_ = std::min(options_.max_outstanding, device_.max_work_requests);
  piece_bytes_ = device_.max_message_bytes;
  if (options_.piece_bytes != 0) piece_bytes_ = std::min(piece_bytes_, options_.piece_bytes);
  domain_.reset(ibv_alloc_pd(connection_->verbs));
  if (!domain_) throw SystemError(errno, "making a protection domain on {}", device_.device);
  queue_.reset(ibv_create_cq(connection_->verbs, static_cast<int>(max_outstanding_ + 1), nullptr,
                             nullptr, 0));
  if (!queue_) throw SystemError(errno, "making a completion queue on {}", device_.device);
  ibv_qp_init_attr attributes{};
  attributes.send_cq = queue_.get();
  attributes.recv_cq = queue_.get();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = max_outstanding_;
  attributes.cap.max_recv_wr = 1;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  if (rdma_create_qp(connection_.get(), domain_.get(), &attributes) != 0) {
    throw SystemError(errno, "making a queue pair with {} work requests on {}", max_outstanding_,
                      device_.device);
  }
  chain_.resize(max_outstanding_);
  pieces_.resize(max_outstanding_);
}

void VerbsEndpoint::exchange_hello(Clock::time_point end) {
  grants_.resize(kMaxGrantedRegions);
  const std::size_t room = kMaxGrantedRegions * sizeof(VerbsGrant);
  const ibv_mr* registered = register_range({reinterpret_cast<std::byte*>(grants_.data()), room});
  ibv_sge place{reinterpret_cast<std::uintptr_t>(grants_.data()), static_cast<std::uint32_t>(room),
                registered->lkey};
  ibv_recv_wr receive{};
  receive.wr_id = kReceiveId;
  receive.sg_list = &place;
  receive.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (const int error = ibv_post_recv(connection_->qp, &receive, &bad); error != 0) {
    throw SystemError(error, "preparing to receive the grant of {}", peer_);
  }
  VerbsHello hello;
  hello.max_reads = static_cast<std::uint16_t>(device_.max_reads_started);
  hello.lease = options_.lease;
  hello.path_mtu_bytes = device_.path_mtu_bytes;
  rdma_conn_param parameters{};
  parameters.private_data = &hello;
  parameters.private_data_len = sizeof(hello);
  parameters.initiator_depth = static_cast<std::uint8_t>(device_.max_reads_started);
  parameters.retry_count = kRetries;
  parameters.rnr_retry_count = kRetries;
  if (rdma_connect(connection_.get(), &parameters) != 0) {
    throw SystemError(errno, "connecting to {} over RDMA", peer_);
  }
  const auto answer = await_event(*channel_, RDMA_CM_EVENT_ESTABLISHED, end, peer_);
  receive_grants(check_welcome(answer), end);
}

/// Returns how many regions are granted.
std::size_t VerbsEndpoint::check_welcome(const ConnectionEvent& answer) const {
  VerbsWelcome welcome;
  if (answer.private_data.size() < sizeof(welcome)) {
    throw Error("{} is not a farvec memory node: {}", peer_, rdma_event_str(answer.type));
  }
  std::memcpy(&welcome, answer.private_data.data(), sizeof(welcome));
  if (welcome.magic != kVerbsMagic) throw Error("{} is not a farvec memory node", peer_);
  if (welcome.version != kVerbsVersion) {
    throw Error("{} speaks version {} of the RDMA hello, this program {}", peer_, welcome.version,
                kVerbsVersion);
  }
  if (welcome.path_mtu_bytes < device_.path_mtu_bytes) {
    throw Error(
        "{} has a path MTU of {} bytes and this machine's {} one of {}: a connection uses the "
        "client's; give both network devices the same MTU (ip link set DEVICE mtu N)",
        peer_, welcome.path_mtu_bytes, device_.device, device_.path_mtu_bytes);
  }
  if (answer.type == RDMA_CM_EVENT_REJECTED || welcome.status != 0) {
    throw Error("{} refused the RDMA connection: {}", peer_,
                to_string(static_cast<StatusCode>(welcome.status)));
  }
  if (welcome.regions == 0 || welcome.regions > kMaxGrantedRegions || welcome.max_reads == 0) {
    throw Error("{} offers {} regions and {} outstanding reads: both must be from 1 to {}", peer_,
                welcome.regions, welcome.max_reads, kMaxGrantedRegions);
  }
  return welcome.regions;
}

void VerbsEndpoint::receive_grants(std::size_t count, Clock::time_point end) {
  ibv_wc completion{};
  int got = 0;
  while ((got = ibv_poll_cq(queue_.get(), 1, &completion)) == 0) {
    if (Clock::now() > end) throw Error("{} connected, but sent no grant in time", peer_);
    std::this_thread::sleep_for(milliseconds(1));
  }
  if (got < 0 || completion.status != IBV_WC_SUCCESS) {
    throw Error("{} connected, but its grant did not come: {}", peer_,
                ibv_wc_status_str(completion.status));
  }
  if (completion.byte_len != count * sizeof(VerbsGrant)) {
    throw Error("{} sent a grant of {} bytes for {} regions", peer_, completion.byte_len, count);
  }
  grants_.resize(count);
}

void VerbsEndpoint::register_memory(std::span<std::byte> memory) {
  (void)register_range(memory);
}

ibv_mr* VerbsEndpoint::register_range(std::span<std::byte> memory) {
  MemoryRegion region = transport::register_memory(*domain_, memory, IBV_ACCESS_LOCAL_WRITE);
  ibv_mr* registered = region.get();
  registered_.add(memory, std::move(region));
  return registered;
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
    const MemoryRegion* local = registered_.find(read.destination, read.bytes);
    if (read.bytes > 0 && local == nullptr) {
      return {StatusCode::invalid_argument, "the destination was not registered"};
    }
    const std::uint32_t count = pieces_of(read.bytes);
    if (count > max_outstanding_ - in_flight) {
      return {StatusCode::resource_exhausted, "too many reads outstanding"};
    }
    in_flight += count;
    const VerbsGrant& grant = grants_[read.region];
    for (std::uint32_t done = 0; done < read.bytes; done += piece_bytes_, ++used) {
      pieces_[used] = {reinterpret_cast<std::uintptr_t>(read.destination + done),
                       std::min(piece_bytes_, read.bytes - done), (*local)->lkey};
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
  if (closed_ || failed_) return {StatusCode::unavailable, "the RDMA connection is gone"};
  if (flights_.size() + finished_.size() + reads.size() > options_.max_outstanding) {
    return {StatusCode::resource_exhausted, "too many reads outstanding"};
  }
  if (Status status = prepare(reads); !status.ok()) return status;
  if (Status status = ring_doorbell(); !status.ok()) return status;
  for (const ReadRequest& read : reads) {
    next_request_ += pieces_of(read.bytes);
    flights_.push({read.token, next_request_ - 1, read.bytes});
  }
  finish_through(done_request_, StatusCode::ok);  // reads of no bytes behind nothing
  return {};
}

Status VerbsEndpoint::ring_doorbell() {
  for (std::size_t first = 0; first < pieces_used_;) {
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(connection_->qp, &chain_[first], &bad) != 0) {
      // Some of the chain may be on its way: its destinations are given back through the error
      // state, like those of every other read of this connection.
      enter_error_state();
      return {StatusCode::internal, "the driver refused a chain of reads"};
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
  if (completion.wr_id == kReceiveId) return;  // the posted receive, flushed
  const StatusCode status = status_of(completion.status);
  if (status != StatusCode::ok) {
    failed_ = true;
    // In order: what was posted before the failed request has arrived.
    if (!failed_request_) finish_through(completion.wr_id - 1, StatusCode::ok);
    failed_request_ = true;
  }
  finish_through(completion.wr_id, status);
}

std::size_t VerbsEndpoint::poll(std::span<Completion> completions) {
  if (closed_) return 0;
  if (!flights_.empty()) {
    ibv_wc batch[16];
    const int count = ibv_poll_cq(queue_.get(), 16, batch);
    for (int i = 0; i < count; ++i) on_work_completion(batch[i]);
    if (count <= 0 && !failed_) notice_disconnection();
  }
  std::size_t moved = 0;
  for (; moved < completions.size() && !finished_.empty(); ++moved) {
    completions[moved] = finished_.front();
    finished_.pop();
  }
  return moved;
}

void VerbsEndpoint::notice_disconnection() {
  const Ticks now = now_ticks();
  if (now < next_look_) return;
  next_look_ = now + us_to_ticks(kLookPeriodUs);
  ConnectionEvent event;
  if (!take_event(*channel_, event)) return;
  switch (event.type) {
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      enter_error_state();
      return;
    default:
      return;
  }
}

/// Every work request then completes, flushed, and its destination is the caller's again.
void VerbsEndpoint::enter_error_state() {
  failed_ = true;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  (void)ibv_modify_qp(connection_->qp, &attributes, IBV_QP_STATE);
}

EndpointLimits VerbsEndpoint::limits() const {
  return {max_outstanding_, 1u << 30};
}

std::uint64_t VerbsEndpoint::region_bytes(RegionId region) const {
  return region < grants_.size() ? grants_[region].bytes : 0;
}

std::string VerbsEndpoint::description() const {
  return fmt::format("verbs({}, {}, MTU {}, {} reads on the wire)", device_.device, peer_,
                     device_.path_mtu_bytes, device_.max_reads_started);
}

void VerbsEndpoint::peer_lost() {
  if (!closed_ && !failed_) enter_error_state();
}

void VerbsEndpoint::close() {
  if (closed_) return;
  closed_ = true;
  if (!failed_) (void)rdma_disconnect(connection_.get());
  enter_error_state();
  // Destroying the queue pair ends every access to the destinations.
  connection_.reset();
  flights_.clear();
  finished_.clear();
}

}  // namespace farvec::transport
