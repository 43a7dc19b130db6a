#include "transport/verbs/verbs_listener.h"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.h"
#include "transport/verbs/resolve.h"

namespace farvec::transport {
namespace {

constexpr int kStopPeriodMs = 50;
constexpr int kBacklog = 64;

void check_count(std::size_t regions) {
  if (regions > kMaxGrantedRegions) {
    throw Error("{} regions cannot be granted over RDMA: at most {}", regions, kMaxGrantedRegions);
  }
}

}  // namespace

VerbsListener::VerbsListener(VerbsListenerOptions options, GrantedRegions regions,
                             Authorise authorise, WritableRegions writable)
    : options_(std::move(options)),
      authorise_(std::move(authorise)),
      authorise_writer_(std::move(writable.authorise)),
      channel_(open_event_channel()),
      readable_{std::move(regions), IBV_ACCESS_REMOTE_READ, {}},
      writable_{{writable.regions.begin(), writable.regions.end()},
                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
                {}} {
  check_count(readable_.regions.size());
  check_count(writable_.regions.size());
  if (readable_.regions.empty()) throw Error("no regions to grant over RDMA");
  listen();
  prepare_share(device_, readable_);
  prepare_share(device_, writable_);
  thread_ = std::thread([this] { run(); });
}

VerbsListener::~VerbsListener() {
  stop_.store(true, std::memory_order_relaxed);  // the thread sees it within one period
  thread_.join();
  end_if([](const NodeConnection&) { return true; });
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
  device_.context = open_device(*id->verbs->device);
  device_.limits = query_limits(*device_.context, id->port_num);
  device_.limits.memory_windows &= options_.memory_windows;
  device_.domain.reset(ibv_alloc_pd(device_.context.get()));
  if (!device_.domain) {
    throw SystemError(errno, "making a protection domain on {}", device_.limits.device);
  }
}

void VerbsListener::run() {
  while (!stop_.load(std::memory_order_relaxed)) {
    pollfd polled[2] = {{channel_->fd, POLLIN, 0}, {-1, POLLIN, 0}};
    if (!device_gone_) polled[1].fd = device_.context->async_fd;
    const bool readable = ::poll(polled, 2, kStopPeriodMs) > 0;
    end_expired();
    if (!readable) continue;
    try {
      take_events();
    } catch (const std::exception& error) {
      spdlog::warn("RDMA listener on {}: {}", options_.host, error.what());
    }
  }
}

void VerbsListener::take_events() {
  DeviceEvent device_event;
  while (!device_gone_ && take_device_event(*device_.context, device_event)) {
    on_device_event(device_event);
  }
  ConnectionEvent event;
  while (take_event(*channel_, event)) on_event(event);
}

/// Ends keys and queue pairs now.
template <typename Condition>
void VerbsListener::end_if(Condition condition) {
  const std::lock_guard lock(mutex_);
  for (auto client = clients_.begin(); client != clients_.end();) {
    if (!condition(*client->second)) {
      ++client;
      continue;
    }
    parked_.end(client->second->release());
    client = clients_.erase(client);
  }
}

bool VerbsListener::is_authorised(VerbsRole role, const GrantLease& lease) const {
  return role == VerbsRole::writer ? authorise_writer_(lease) : authorise_(lease);
}

void VerbsListener::end_expired() {
  end_if([this](const NodeConnection& client) {
    return !is_authorised(client.role(), client.lease());
  });
}

void VerbsListener::on_device_event(const DeviceEvent& event) {
  if (device_gone_) return;
  {
    const std::lock_guard lock(mutex_);
    events_.add(event.kind);
  }
  switch (event.kind) {
    case DeviceEventKind::port_down:
      spdlog::warn("RDMA device {}: port {} is down, its connections end", device_.limits.device,
                   event.port);
      end_if([&](const NodeConnection& client) { return client.id()->port_num == event.port; });
      return;
    case DeviceEventKind::port_up:
      spdlog::info("RDMA device {}: port {} is up", device_.limits.device, event.port);
      parked_.release();
      return;
    case DeviceEventKind::queue_pair_failed:
    case DeviceEventKind::completion_queue_failed:
      spdlog::warn("RDMA device {}: {}, its connection ends", device_.limits.device,
                   ibv_event_type_str(event.type));
      end_if([&](const NodeConnection& client) { return client.owns(event.object); });
      return;
    case DeviceEventKind::device_gone:
      let_device_go();
      return;
    case DeviceEventKind::other:
      return;
  }
}

/// Closes what uses the device: the kernel removes a device only when nothing uses it any more.
void VerbsListener::let_device_go() {
  device_gone_ = true;
  spdlog::error(
      "RDMA device {} is gone: nothing is read over it any more; start the node again when "
      "it is back",
      device_.limits.device);
  end_if([](const NodeConnection&) { return true; });
  parked_.clear();
  listener_.reset();
  readable_.registered.clear();
  writable_.registered.clear();
  device_.domain.reset();
  device_.context.reset();
}

void VerbsListener::on_event(const ConnectionEvent& event) {
  if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    on_request(event);
    return;
  }
  if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
    on_device_event({DeviceEventKind::device_gone, IBV_EVENT_DEVICE_FATAL, 0, nullptr});
    return;
  }
  bool lives = false;
  if (event.type == RDMA_CM_EVENT_ESTABLISHED) {
    const std::lock_guard lock(mutex_);
    const auto found = clients_.find(event.id);
    lives = found != clients_.end() && found->second->send_grants();
  }
  if (!lives) end_if([&](const NodeConnection& client) { return client.id() == event.id; });
}

void VerbsListener::on_request(const ConnectionEvent& event) {
  Connection id(event.id);
  if (device_gone_) return;
  VerbsHello hello;
  if (const StatusCode status = check_hello(event, hello); status != StatusCode::ok) {
    VerbsWelcome welcome;
    welcome.status = static_cast<std::uint32_t>(status);
    (void)rdma_reject(id.get(), &welcome, sizeof(welcome));
    return;
  }
  try {
    accept(std::move(id), hello);
  } catch (const std::exception& error) {
    spdlog::warn("a client on {} got no grant: {}", options_.host, error.what());
  }
}

StatusCode VerbsListener::check_hello(const ConnectionEvent& event, VerbsHello& hello) const {
  if (event.private_data.size() < sizeof(hello)) return StatusCode::invalid_argument;
  std::memcpy(&hello, event.private_data.data(), sizeof(hello));
  const bool writes = hello.role == VerbsRole::writer;
  if (hello.magic != kVerbsMagic || hello.version != kVerbsVersion || hello.max_reads == 0 ||
      !is_path_mtu(hello.path_mtu_bytes) || (!writes && hello.role != VerbsRole::reader)) {
    return StatusCode::invalid_argument;
  }
  if (writes && writable_.regions.empty()) return StatusCode::failed_precondition;
  if (!is_authorised(hello.role, hello.lease)) return StatusCode::not_found;
  const std::lock_guard lock(mutex_);
  const bool full =
      writes ? has_writer_locked() : readers_locked(hello.lease) >= options_.connections_per_lease;
  return full ? StatusCode::resource_exhausted : StatusCode::ok;
}

void VerbsListener::accept(Connection id, const VerbsHello& hello) {
  // The port's MTU follows that of its network device, which may have changed.
  const std::uint32_t mtu = query_limits(*device_.context, id->port_num).path_mtu_bytes;
  PathTerms terms;
  terms.path_mtu_bytes = std::min(hello.path_mtu_bytes, mtu);
  terms.reads_answered =
      std::min<std::uint32_t>(hello.max_reads, device_.limits.max_reads_answered);
  const Share& share = hello.role == VerbsRole::writer ? writable_ : readable_;
  auto client = std::make_unique<NodeConnection>(std::move(id), hello, device_, share);
  const std::lock_guard lock(mutex_);
  client->accept(terms);
  rdma_cm_id* key = client->id();
  clients_.emplace(key, std::move(client));
}

void VerbsListener::revoke(const GrantLease& lease) {
  end_if([&](const NodeConnection& client) { return client.lease() == lease; });
}

std::size_t VerbsListener::connections() const {
  const std::lock_guard lock(mutex_);
  return clients_.size();
}

bool VerbsListener::has_writer_locked() const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [](const auto& client) { return client.second->role() == VerbsRole::writer; });
}

std::size_t VerbsListener::readers_locked(const GrantLease& lease) const {
  return static_cast<std::size_t>(
      std::count_if(clients_.begin(), clients_.end(), [&](const auto& client) {
        return client.second->role() == VerbsRole::reader && client.second->lease() == lease;
      }));
}

bool VerbsListener::has_writer() const {
  const std::lock_guard lock(mutex_);
  return has_writer_locked();
}

std::uint32_t VerbsListener::path_mtu_bytes(const GrantLease& lease) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(clients_.begin(), clients_.end(), [&](const auto& client) {
    return client.second->lease() == lease;
  });
  return found == clients_.end() ? 0 : found->second->path_mtu_bytes();
}

DeviceEventCounts VerbsListener::device_events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

}  // namespace farvec::transport
