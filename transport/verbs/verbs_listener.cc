#include "transport/verbs/verbs_listener.h"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/status.h"
#include "transport/verbs/registration.h"
#include "transport/verbs/resolve.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kStopPeriodMs = 50;
constexpr std::chrono::milliseconds kGrantBound{1000};
constexpr int kBacklog = 64;

}  // namespace

struct VerbsListener::Client {
  GrantLease lease{};
  ProtectionDomain own_domain;            ///< without windows
  std::vector<MemoryRegion> own_regions;  ///< without windows
  std::vector<VerbsGrant> grants;
  MemoryRegion message;  ///< over `grants`
  CompletionQueue queue;
  Connection connection;
  // Freed before the queue pair they are bound to, as the device requires.
  std::vector<std::unique_ptr<ibv_mw, VerbsDeleter<ibv_dealloc_mw>>> windows;
};

VerbsListener::VerbsListener(VerbsListenerOptions options, GrantedRegions regions,
                             Authorise authorise)
    : options_(std::move(options)),
      regions_(std::move(regions)),
      authorise_(std::move(authorise)),
      channel_(open_event_channel()) {
  if (regions_.empty() || regions_.size() > kMaxGrantedRegions) {
    throw Error("{} regions cannot be granted over RDMA: from 1 to {}", regions_.size(),
                kMaxGrantedRegions);
  }
  listen();
  if (device_.memory_windows) {
    domain_.reset(ibv_alloc_pd(listener_->verbs));
    if (!domain_) throw SystemError(errno, "making a protection domain on {}", device_.device);
    for (const auto& region : regions_) {
      registered_.push_back(register_memory(*domain_, region, IBV_ACCESS_MW_BIND));
    }
  }
  thread_ = std::thread([this] { run(); });
}

VerbsListener::~VerbsListener() {
  stop_.store(true, std::memory_order_relaxed);  // seen within one period
  thread_.join();
  clients_.clear();
}

void VerbsListener::listen() {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
    throw SystemError(errno, "making an RDMA listener on {}", options_.host);
  }
  listener_.reset(id);
  const auto address = resolve_rdma_address(options_.host, options_.port);
  if (rdma_bind_addr(id, address->ai_addr) != 0 || rdma_listen(id, kBacklog) != 0) {
    throw SystemError(errno, "listening for RDMA on {}:{}", options_.host, options_.port);
  }
  if (id->verbs == nullptr) {
    throw Error("{} is not the address of an RDMA device: give one of `rdma link`'s",
                options_.host);
  }
  port_ = ntohs(rdma_get_src_port(id));
  device_ = query_limits(*id);
}

void VerbsListener::run() {
  pollfd polled{channel_->fd, POLLIN, 0};
  while (!stop_.load(std::memory_order_relaxed)) {
    const bool readable = ::poll(&polled, 1, kStopPeriodMs) > 0;
    end_expired();
    if (!readable) continue;
    try {
      ConnectionEvent event;
      while (take_event(*channel_, event)) on_event(event);
    } catch (const std::exception& error) {
      spdlog::warn("RDMA listener on {}: {}", options_.host, error.what());
    }
  }
}

void VerbsListener::end_expired() {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [this](const auto& entry) { return !authorise_(entry.second->lease); });
}

void VerbsListener::on_event(const ConnectionEvent& event) {
  if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    on_request(event);
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(event.id);
  if (found == clients_.end()) return;
  const bool lives = event.type == RDMA_CM_EVENT_ESTABLISHED && send_grants(*found->second);
  if (!lives) clients_.erase(found);
}

void VerbsListener::on_request(const ConnectionEvent& event) {
  Connection id(event.id);
  VerbsHello hello;
  // The port's MTU follows that of its network device, which may have changed.
  const std::uint32_t path_mtu_bytes = query_limits(*id).path_mtu_bytes;
  if (const StatusCode status = check_hello(event, path_mtu_bytes, hello);
      status != StatusCode::ok) {
    VerbsWelcome welcome;
    welcome.status = static_cast<std::uint32_t>(status);
    welcome.path_mtu_bytes = path_mtu_bytes;
    (void)rdma_reject(id.get(), &welcome, sizeof(welcome));
    return;
  }
  try {
    accept(std::move(id), hello);
  } catch (const std::exception& error) {
    spdlog::warn("a client on {} got no grant: {}", options_.host, error.what());
  }
}

StatusCode VerbsListener::check_hello(const ConnectionEvent& event, std::uint32_t path_mtu_bytes,
                                      VerbsHello& hello) const {
  if (event.private_data.size() < sizeof(hello)) return StatusCode::invalid_argument;
  std::memcpy(&hello, event.private_data.data(), sizeof(hello));
  if (hello.magic != kVerbsMagic || hello.version != kVerbsVersion || hello.max_reads == 0) {
    return StatusCode::invalid_argument;
  }
  if (hello.path_mtu_bytes > path_mtu_bytes) return StatusCode::failed_precondition;
  if (!authorise_(hello.lease)) return StatusCode::not_found;
  if (connections() >= options_.max_connections) return StatusCode::resource_exhausted;
  return StatusCode::ok;
}

void VerbsListener::accept(Connection id, const VerbsHello& hello) {
  auto client = std::make_unique<Client>();
  client->lease = hello.lease;
  client->connection = std::move(id);
  register_regions(*client);
  make_queue_pair(*client);
  VerbsWelcome welcome;
  const std::uint32_t reads = std::min<std::uint32_t>(hello.max_reads, device_.max_reads_answered);
  welcome.max_reads = static_cast<std::uint16_t>(reads);
  welcome.regions = static_cast<std::uint32_t>(regions_.size());
  welcome.path_mtu_bytes = device_.path_mtu_bytes;
  rdma_conn_param parameters{};
  parameters.private_data = &welcome;
  parameters.private_data_len = sizeof(welcome);
  parameters.responder_resources = static_cast<std::uint8_t>(reads);
  parameters.rnr_retry_count = 7;
  rdma_cm_id* key = client->connection.get();
  const std::lock_guard lock(mutex_);
  if (rdma_accept(key, &parameters) != 0) {
    throw SystemError(errno, "accepting an RDMA connection on {}", options_.host);
  }
  clients_.emplace(key, std::move(client));
}

void VerbsListener::register_regions(Client& client) {
  client.grants.resize(regions_.size());
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    client.grants[i].address = reinterpret_cast<std::uintptr_t>(regions_[i].data());
    client.grants[i].bytes = regions_[i].size();
  }
  if (!device_.memory_windows) {
    client.own_domain.reset(ibv_alloc_pd(client.connection->verbs));
    if (!client.own_domain) throw SystemError(errno, "making a protection domain");
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      client.own_regions.push_back(
          register_memory(*client.own_domain, regions_[i], IBV_ACCESS_REMOTE_READ));
      client.grants[i].key = client.own_regions.back()->rkey;
    }
  }
  ibv_pd* domain = device_.memory_windows ? domain_.get() : client.own_domain.get();
  client.message = register_memory(*domain, std::as_bytes(std::span(client.grants)), 0);
}

void VerbsListener::make_queue_pair(Client& client) {
  const auto requests = static_cast<std::uint32_t>(regions_.size() + 1);
  client.queue.reset(
      ibv_create_cq(client.connection->verbs, static_cast<int>(requests + 1), nullptr, nullptr, 0));
  if (!client.queue) throw SystemError(errno, "making a completion queue on {}", device_.device);
  ibv_qp_init_attr attributes{};
  attributes.send_cq = client.queue.get();
  attributes.recv_cq = client.queue.get();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = requests;
  attributes.cap.max_recv_wr = 1;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  if (rdma_create_qp(client.connection.get(), client.message->pd, &attributes) != 0) {
    throw SystemError(errno, "making a queue pair on {}", device_.device);
  }
}

/// Binds a window per region and sends the keys behind them in the same queue: the client cannot
/// have a key before it is valid.
bool VerbsListener::send_grants(Client& client) {
  std::vector<ibv_send_wr> chain(client.grants.size() + 1);
  std::size_t used = 0;
  for (std::size_t i = 0; device_.memory_windows && i < client.grants.size(); ++i) {
    client.windows.emplace_back(ibv_alloc_mw(domain_.get(), IBV_MW_TYPE_2));
    if (!client.windows.back()) return false;
    client.grants[i].key = ibv_inc_rkey(client.windows.back()->rkey);
    ibv_send_wr& bind = chain[used++];
    bind.opcode = IBV_WR_BIND_MW;
    bind.bind_mw.mw = client.windows.back().get();
    bind.bind_mw.rkey = client.grants[i].key;
    bind.bind_mw.bind_info = {registered_[i].get(), client.grants[i].address,
                              client.grants[i].bytes, IBV_ACCESS_REMOTE_READ};
  }
  ibv_sge message{reinterpret_cast<std::uintptr_t>(client.grants.data()),
                  static_cast<std::uint32_t>(client.grants.size() * sizeof(VerbsGrant)),
                  client.message->lkey};
  ibv_send_wr& send = chain[used++];
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_SIGNALED;
  send.sg_list = &message;
  send.num_sge = 1;
  for (std::size_t i = 0; i + 1 < used; ++i) chain[i].next = &chain[i + 1];
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(client.connection->qp, chain.data(), &bad) != 0) return false;
  const auto end = Clock::now() + kGrantBound;
  ibv_wc completion{};
  int got = 0;
  while ((got = ibv_poll_cq(client.queue.get(), 1, &completion)) == 0 && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return got == 1 && completion.status == IBV_WC_SUCCESS && completion.opcode == IBV_WC_SEND;
}

void VerbsListener::revoke(const GrantLease& lease) {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [&](const auto& entry) {
    if (entry.second->lease != lease) return false;
    (void)rdma_disconnect(entry.first);
    return true;
  });
}

std::size_t VerbsListener::connections() const {
  const std::lock_guard lock(mutex_);
  return clients_.size();
}

}  // namespace farvec::transport
