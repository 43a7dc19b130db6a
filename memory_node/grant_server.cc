#include "memory_node/grant_server.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/error.h"
#include "base/status.h"

namespace farvec::memory_node {
namespace {

constexpr std::chrono::milliseconds kSweepPeriod{100};

rpc::GrantReply reply_with(StatusCode code, std::size_t descriptors) {
  rpc::GrantReply reply;
  reply.status = static_cast<std::uint32_t>(code);
  reply.descriptors = static_cast<std::uint32_t>(descriptors);
  return reply;
}

void send_grant(int socket, const RegionTable& table, LeaseKind kind) {
  std::vector<Descriptor> owned;
  std::vector<int> descriptors;
  for (const Region& region : table.regions) {
    owned.push_back(kind == LeaseKind::write ? region.backing->writable_descriptor()
                                             : region.backing->read_only_descriptor());
    descriptors.push_back(owned.back().get());
  }
  const rpc::GrantReply reply = reply_with(StatusCode::ok, descriptors.size());
  rpc::send_message(socket, std::as_bytes(std::span(&reply, 1)), descriptors);
}

}  // namespace

GrantServer::GrantServer(Options options, LeaseTable& leases)
    : options_(std::move(options)),
      leases_(leases),
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
    list_sockets(polled);
    if (poll(polled.data(), polled.size(), kSweepPeriod.count()) < 0) {
      const int error = errno;
      if (error == EINTR) continue;
      spdlog::error("the grant socket {} stopped: poll failed with errno {}", options_.path, error);
      return hang_up();
    }
    if (polled[0].revents != 0) return;
    leases_.expire(Clock::now());
    serve_all(std::span(polled).subspan(2));
    if ((polled[1].revents & POLLIN) != 0) accept_one();
  }
}

void GrantServer::list_sockets(std::vector<pollfd>& polled) const {
  polled.clear();
  polled.push_back({wake_.get(), POLLIN, 0});
  const bool accepts =
      connections_.size() < options_.max_connections && Clock::now() >= accept_from_;
  polled.push_back({listener_.get(), static_cast<short>(accepts ? POLLIN : 0), 0});
  for (const auto& connection : connections_) {
    polled.push_back({connection.socket.get(), POLLIN | POLLRDHUP, 0});
  }
}

void GrantServer::serve_all(std::span<const pollfd> polled) {
  const auto now = Clock::now();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (!serve(connections_[i], polled[i].revents) || outlived(connections_[i], now)) {
      if (connections_[i].granted) leases_.revoke(connections_[i].request.lease);
      continue;
    }
    if (kept != i) connections_[kept] = std::move(connections_[i]);
    ++kept;
  }
  connections_.resize(kept);
}

void GrantServer::hang_up() {
  listener_.reset();
  for (const Connection& connection : connections_) {
    if (connection.granted) leases_.revoke(connection.request.lease);
  }
  connections_.clear();
}

void GrantServer::accept_one() {
  Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) {
    // Unless the client has gone again, there is no descriptor or memory for it: it keeps waiting,
    // and so keeps the listener readable.
    if (errno != EAGAIN) accept_from_ = Clock::now() + kSweepPeriod;
    return;
  }
  Connection connection;
  connection.socket = std::move(socket);
  connection.since = Clock::now();
  connections_.push_back(std::move(connection));
}

bool GrantServer::serve(Connection& connection, short events) {
  if ((events & (POLLHUP | POLLRDHUP | POLLERR)) != 0) return false;
  if ((events & POLLIN) == 0) return true;
  return !connection.granted &&
         receive(connection);  // after the grant a client must not send anything
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
  const auto reads = leases_.reads(request.lease);
  const auto kind = leases_.kind(request.lease, Clock::now());
  StatusCode code = StatusCode::ok;
  if (request.magic != rpc::kGrantMagic || request.version != rpc::kGrantVersion) {
    code = StatusCode::invalid_argument;
  } else if (reads == nullptr || !kind) {
    code = StatusCode::not_found;
  }
  try {
    if (code == StatusCode::ok) {
      leases_.extend(request.lease, Clock::now());
      send_grant(socket, *reads->table, *kind);
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
  if (connection.granted) return !leases_.kind(connection.request.lease, now);
  return now - connection.since > options_.patience;
}

}  // namespace farvec::memory_node
