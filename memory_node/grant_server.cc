#include "memory_node/grant_server.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/error.h"
#include "base/status.h"

namespace farvec::memory_node {
namespace {

constexpr int kSweepPeriodMs = 100;

rpc::GrantReply reply_with(StatusCode code, std::size_t descriptors) {
  rpc::GrantReply reply;
  reply.status = static_cast<std::uint32_t>(code);
  reply.descriptors = static_cast<std::uint32_t>(descriptors);
  return reply;
}

void send_grant(int socket, const RegionTable& table) {
  std::vector<rpc::Descriptor> owned;
  std::vector<int> descriptors;
  for (const Region& region : table.regions) {
    owned.push_back(region.backing->read_only_descriptor());
    descriptors.push_back(owned.back().get());
  }
  const rpc::GrantReply reply = reply_with(StatusCode::ok, descriptors.size());
  rpc::send_message(socket, std::as_bytes(std::span(&reply, 1)), descriptors);
}

}  // namespace

GrantServer::GrantServer(Options options, LeaseTable& leases, const PublishedRegions& regions)
    : options_(std::move(options)),
      leases_(leases),
      regions_(regions),
      lock_(options_.path),
      listener_(rpc::listen_unix(options_.path)),
      wake_(eventfd(0, EFD_CLOEXEC)) {
  if (!wake_.valid()) throw SystemError(errno, "making an eventfd");
  fcntl(listener_.get(), F_SETFL, O_NONBLOCK);
  thread_ = std::thread([this] { run(); });
}

GrantServer::~GrantServer() {
  const std::uint64_t one = 1;
  // An eventfd that was never written takes this without blocking.
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
  thread_.join();
  unlink(options_.path.c_str());
}

void GrantServer::run() {
  std::vector<pollfd> polled;
  for (;;) {
    polled.clear();
    polled.push_back({wake_.get(), POLLIN, 0});
    const bool room = connections_.size() < options_.max_connections;
    polled.push_back({listener_.get(), static_cast<short>(room ? POLLIN : 0), 0});
    for (const auto& connection : connections_) {
      polled.push_back({connection.socket.get(), POLLIN | POLLRDHUP, 0});
    }
    if (poll(polled.data(), polled.size(), kSweepPeriodMs) < 0 && errno != EINTR) {
      spdlog::error("the grant socket {} stopped: poll failed with errno {}", options_.path, errno);
      return;
    }
    if (polled[0].revents != 0) return;
    const auto now = Clock::now();
    leases_.expire(now);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (!serve(connections_[i], polled[i + 2].revents) || outlived(connections_[i], now)) {
        if (connections_[i].granted) leases_.release(connections_[i].request.lease);
        continue;
      }
      if (kept != i) connections_[kept] = std::move(connections_[i]);
      ++kept;
    }
    connections_.resize(kept);
    if ((polled[1].revents & POLLIN) != 0) accept_one();
  }
}

void GrantServer::accept_one() {
  rpc::Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) return;  // the client has gone again, or no descriptor is left for it
  Connection connection;
  connection.socket = std::move(socket);
  connection.since = Clock::now();
  connections_.push_back(std::move(connection));
}

bool GrantServer::serve(Connection& connection, short events) {
  if ((events & (POLLHUP | POLLRDHUP | POLLERR)) != 0) return false;
  if ((events & POLLIN) == 0) return true;
  return !connection.granted && receive(connection);  // nobody speaks after the grant
}

bool GrantServer::receive(Connection& connection) {
  auto* begin = reinterpret_cast<std::byte*>(&connection.request) + connection.received;
  const std::size_t missing = sizeof(connection.request) - connection.received;
  const ssize_t got = recv(connection.socket.get(), begin, missing, 0);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  connection.received += static_cast<std::size_t>(got);
  return connection.received < sizeof(connection.request) || answer(connection);
}

bool GrantServer::answer(Connection& connection) {
  const rpc::GrantRequest& request = connection.request;
  const int socket = connection.socket.get();
  const auto regions = regions_.get();
  StatusCode code = StatusCode::ok;
  if (request.magic != rpc::kGrantMagic || request.version != rpc::kGrantVersion) {
    code = StatusCode::invalid_argument;
  } else if (regions == nullptr) {
    code = StatusCode::unavailable;
  } else if (!leases_.holds(request.lease, Clock::now())) {
    code = StatusCode::not_found;
  }
  try {
    if (code == StatusCode::ok) {
      send_grant(socket, *regions);
      connection.granted = true;
      return true;
    }
    const rpc::GrantReply reply = reply_with(code, 0);
    rpc::send_message(socket, std::as_bytes(std::span(&reply, 1)), {});
  } catch (const Error& error) {
    spdlog::warn("a client on {} got no grant: {}", options_.path, error.what());
  }
  return false;
}

bool GrantServer::outlived(const Connection& connection, Clock::time_point now) const {
  if (connection.granted) return !leases_.holds(connection.request.lease, now);
  return now - connection.since > options_.patience;
}

}  // namespace farvec::memory_node
