#include "transport/verbs/client_connection.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "transport/verbs/local_device.h"
#include "transport/verbs/parked_connections.h"
#include "transport/verbs/registration.h"
#include "transport/verbs/resolve.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr double kLookPeriodUs = 2000;
constexpr std::uint8_t kRnrRetries = 7;

ParkedConnections& parked_connections() {
  static ParkedConnections parked;
  return parked;
}

/// Says in words why a node refuses.
std::string refusal(const VerbsWelcome& welcome, VerbsRole role) {
  const auto status = static_cast<StatusCode>(welcome.status);
  if (role == VerbsRole::writer && status == StatusCode::resource_exhausted) {
    return "another writer is connected";
  }
  if (role == VerbsRole::writer && status == StatusCode::failed_precondition) {
    return "it takes no writers";
  }
  if (role == VerbsRole::reader && status == StatusCode::resource_exhausted) {
    return "the lease has as many connections as one may have, and each core of a client needs one "
           "(the node's --connections-per-lease)";
  }
  if (status == StatusCode::not_found) return "it has no such lease (not found)";
  return std::string(to_string(status));
}

}  // namespace

ClientConnection::ClientConnection(ClientConnectionOptions options)
    : options_(std::move(options)),
      peer_(fmt::format("{}:{}", options_.peer.host, options_.peer.port)),
      channel_(open_event_channel()) {
  parked_connections().release();
  const auto end = Clock::now() + options_.peer.connect_timeout;
  resolve(end);
  make_queue_pair();
  exchange_hello(end);
}

void ClientConnection::resolve(Deadline end) {
  const VerbsPeer& peer = options_.peer;
  const auto address = resolve_rdma_address(peer.host, peer.port);
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
    throw SystemError(errno, "making an RDMA connection to {}", peer_);
  }
  connection_.reset(id);
  const auto bound = static_cast<int>(peer.connect_timeout.count());
  sockaddr_storage from{};
  if (peer.device.chosen()) from = local_address(peer.device, address->ai_family);
  auto* source = peer.device.chosen() ? reinterpret_cast<sockaddr*>(&from) : nullptr;
  if (rdma_resolve_addr(id, source, address->ai_addr, bound) != 0) {
    throw SystemError(errno, "finding the RDMA device towards {}", peer_);
  }
  await_event(*channel_, RDMA_CM_EVENT_ADDR_RESOLVED, end, peer_);
  if (rdma_resolve_route(id, bound) != 0) {
    throw SystemError(errno, "finding the RDMA route to {}", peer_);
  }
  await_event(*channel_, RDMA_CM_EVENT_ROUTE_RESOLVED, end, peer_);
}

void ClientConnection::make_queue_pair() {
  context_ = open_device(*connection_->verbs->device);
  device_ = query_limits(*context_, connection_->port_num);
  if (port_is_down(*context_, connection_->port_num)) {
    throw Error("connecting to {} over RDMA: port {} of this machine's {} is down", peer_,
                connection_->port_num, device_.device);
  }
  max_requests_ = std::min(options_.max_requests, device_.max_work_requests);
  domain_.reset(ibv_alloc_pd(context_.get()));
  if (!domain_) throw SystemError(errno, "making a protection domain on {}", device_.device);
  const auto entries = static_cast<int>(max_requests_ + 1);
  queue_.reset(ibv_create_cq(context_.get(), entries, nullptr, nullptr, 0));
  if (!queue_) throw SystemError(errno, "making a completion queue on {}", device_.device);
  QueuePairOptions wanted{*domain_, *queue_, max_requests_, 0, options_.inline_bytes};
  pair_ = transport::make_queue_pair(*connection_, wanted);
  inline_bytes_ = wanted.inline_bytes;
}

void ClientConnection::exchange_hello(Deadline end) {
  grants_.resize(kMaxGrantedRegions);
  await_grants_in(grants_);
  VerbsHello hello;
  hello.max_reads = static_cast<std::uint16_t>(device_.max_reads_started);
  hello.lease = options_.peer.lease;
  hello.path_mtu_bytes = device_.path_mtu_bytes;
  hello.role = options_.role;
  rdma_conn_param parameters{};
  parameters.private_data = &hello;
  parameters.private_data_len = sizeof(hello);
  parameters.initiator_depth = static_cast<std::uint8_t>(device_.max_reads_started);
  parameters.rnr_retry_count = kRnrRetries;
  parameters.qp_num = pair_->qp_num;
  if (rdma_connect(connection_.get(), &parameters) != 0) {
    throw SystemError(errno, "connecting to {} over RDMA", peer_);
  }
  const VerbsWelcome welcome =
      check_welcome(await_event(*channel_, RDMA_CM_EVENT_CONNECT_RESPONSE, end, peer_));
  terms_ = {welcome.path_mtu_bytes, welcome.max_reads, 0};
  bring_up(*connection_, *pair_, terms_);
  if (rdma_establish(connection_.get()) != 0) {
    throw SystemError(errno, "taking the RDMA connection that {} has accepted", peer_);
  }
  receive_grants(welcome.regions, end);
}

void ClientConnection::await_grants_in(std::vector<VerbsGrant>& room) {
  const std::span bytes = std::as_writable_bytes(std::span(room));
  const ibv_mr& registered = register_range(bytes, IBV_ACCESS_LOCAL_WRITE);
  ibv_sge place{reinterpret_cast<std::uintptr_t>(bytes.data()),
                static_cast<std::uint32_t>(bytes.size()), registered.lkey};
  ibv_recv_wr receive{};
  receive.sg_list = &place;
  receive.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (const int error = ibv_post_recv(pair_.get(), &receive, &bad); error != 0) {
    throw SystemError(error, "preparing to receive the grant of {}", peer_);
  }
}

VerbsWelcome ClientConnection::check_welcome(const ConnectionEvent& answer) const {
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
  if (answer.type == RDMA_CM_EVENT_REJECTED || welcome.status != 0) {
    throw Error("{} refused the RDMA connection: {}", peer_, refusal(welcome, options_.role));
  }
  check_terms(welcome);
  return welcome;
}

void ClientConnection::check_terms(const VerbsWelcome& welcome) const {
  if (welcome.regions == 0 || welcome.regions > kMaxGrantedRegions || welcome.max_reads == 0 ||
      welcome.max_reads > device_.max_reads_started) {
    throw Error("{} offers {} regions and {} outstanding reads: from 1 to {} and {} can be used",
                peer_, welcome.regions, welcome.max_reads, kMaxGrantedRegions,
                device_.max_reads_started);
  }
  if (!is_path_mtu(welcome.path_mtu_bytes) || welcome.path_mtu_bytes > device_.path_mtu_bytes) {
    throw Error("{} wants a path MTU of {} bytes; this machine's {} has {}", peer_,
                welcome.path_mtu_bytes, device_.device, device_.path_mtu_bytes);
  }
}

void ClientConnection::receive_grants(std::size_t count, Deadline end) {
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

const ibv_mr& ClientConnection::register_range(std::span<std::byte> memory, int access) {
  MemoryRegion region = register_memory(*domain_, memory, access);
  const ibv_mr& registered = *region;
  registered_.add(memory, std::move(region));
  return registered;
}

const ibv_mr* ClientConnection::registration(const std::byte* begin, std::uint32_t bytes) const {
  const MemoryRegion* found = registered_.find(begin, bytes);
  return found == nullptr ? nullptr : found->get();
}

void ClientConnection::look() {
  const Ticks now = now_ticks();
  if (now < next_look_ || ended_by_device_ || !pair_) return;
  next_look_ = now + us_to_ticks(kLookPeriodUs);
  take_device_events();
  take_connection_event();  // the connection manager also says that the device is going away
}

void ClientConnection::take_connection_event() {
  ConnectionEvent event;
  if (!take_event(*channel_, event)) return;
  switch (event.type) {
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      fail({StatusCode::unavailable, "the peer has ended the RDMA connection"});
      return;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      on_device_event({DeviceEventKind::device_gone, IBV_EVENT_DEVICE_FATAL, 0, nullptr});
      return;
    default:
      return;
  }
}

void ClientConnection::take_device_events() {
  DeviceEvent event;
  while (!ended_by_device_ && take_device_event(*context_, event)) on_device_event(event);
}

void ClientConnection::on_device_event(const DeviceEvent& event) {
  events_.add(event.kind);
  Status why;
  switch (event.kind) {
    case DeviceEventKind::port_down:
      if (event.port != connection_->port_num) return;
      why = {StatusCode::unavailable, "the port of this machine's RDMA device is down"};
      break;
    case DeviceEventKind::device_gone:
      why = {StatusCode::unavailable, "the RDMA device of this machine is gone"};
      break;
    case DeviceEventKind::queue_pair_failed:
    case DeviceEventKind::completion_queue_failed:
      why = {StatusCode::unavailable, "the RDMA device has given up the connection's queue"};
      break;
    case DeviceEventKind::port_up:
    case DeviceEventKind::other:
      return;
  }
  ended_by_device_ = true;
  spdlog::warn("RDMA device {}: {}; the connection to {} ends", device_.device, why.message(),
               peer_);
  end(why);
  status_ = why;  // counts even when the peer's end of it was seen first
}

void ClientConnection::fail(Status why) {
  take_device_events();
  end(why);
}

void ClientConnection::end(Status why) {
  if (!status_.ok()) return;
  status_ = why;
  enter_error_state(*pair_);
}

void ClientConnection::close() {
  if (!pair_) return;
  if (status_.ok() && !port_is_down(*context_, connection_->port_num)) {
    (void)rdma_disconnect(connection_.get());
  }
  end({StatusCode::unavailable, "the RDMA connection is closed"});
  pair_.reset();
  if (events_.device_gone > 0) {
    connection_.reset();
    return;
  }
  parked_connections().end(std::move(connection_), std::move(channel_));
}

}  // namespace farvec::transport
