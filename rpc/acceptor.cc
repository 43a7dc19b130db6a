#include "rpc/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "rpc/tls_watch.h"

namespace farvec::rpc {
namespace {

constexpr int kAcceptorBacklog = 1024;
/// The pause after a connection that could not be accepted because no descriptor is left; then it
/// is tried again.
constexpr int kPauseMs = 100;

std::uint16_t port_of(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

/// Names an address for the log.
std::string name_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_UNIX) return "a Unix socket";
  const bool v6 = address.ss_family == AF_INET6;
  const void* bytes =
      v6 ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
         : &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  Address peer;
  peer.host = inet_ntop(address.ss_family, bytes, text, sizeof(text)) != nullptr ? text : "?";
  peer.port = port_of(address);
  return to_string(peer);
}

}  // namespace

Acceptor::Acceptor(const Address& address) : port_(address.port), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (!wake_.valid()) throw SystemError(errno, "making an eventfd");
  if (address.is_unix()) {
    listeners_.push_back(listen_unix(address.unix_path));
    fcntl(listeners_.back().get(), F_SETFL, O_NONBLOCK);
  } else {
    listen_on_host(address);
  }
}

void Acceptor::listen_on_host(const Address& address) {
  const AddressList list = resolve(address);
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    listen_on(*entry, address);
  }
  if (listeners_.empty()) throw Error("no address of {} is this machine's", to_string(address));
}

/// Skips an address family that the machine does not have, and one address that is listed twice.
void Acceptor::listen_on(const addrinfo& entry, const Address& address) {
  Descriptor socket(::socket(entry.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return;
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // Accepted sockets inherit it.
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_storage place{};
  std::memcpy(&place, entry.ai_addr, entry.ai_addrlen);
  auto& port = place.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(place).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(place).sin_port;
  port = htons(port_);
  auto* const generic = reinterpret_cast<sockaddr*>(&place);
  socklen_t bytes = entry.ai_addrlen;
  if (bind(socket.get(), generic, bytes) != 0 || listen(socket.get(), kAcceptorBacklog) != 0) {
    if (errno == EADDRNOTAVAIL || (errno == EADDRINUSE && !listeners_.empty())) return;
    throw SystemError(errno, "listening on {}", to_string(address));
  }
  if (getsockname(socket.get(), generic, &bytes) != 0) {
    throw SystemError(errno, "asking for the port of {}", to_string(address));
  }
  port_ = port_of(place);
  listeners_.push_back(std::move(socket));
}

void Acceptor::start(Taker taker) {
  taker_ = std::move(taker);
  thread_ = std::thread([this] { run(); });
}

void Acceptor::stop() {
  if (!thread_.joinable()) return;
  (void)eventfd_write(wake_.get(), 1);
  thread_.join();
  listeners_.clear();
}

void Acceptor::run() {
  std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
  for (const Descriptor& listener : listeners_) polled.push_back({listener.get(), POLLIN, 0});
  for (;;) {
    (void)poll(polled.data(), polled.size(), -1);
    if (polled[0].revents != 0) return;
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents != 0) accept_one(polled[i].fd);
    }
  }
}

void Acceptor::accept_one(int listener) {
  sockaddr_storage from{};
  socklen_t bytes = sizeof(from);
  Descriptor socket(
      accept4(listener, reinterpret_cast<sockaddr*>(&from), &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.valid()) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      pollfd wake{wake_.get(), POLLIN, 0};
      (void)poll(&wake, 1, kPauseMs);
    }
    return;
  }
  const TlsPeer who{name_of(from), refusals_};
  const TlsPeerScope scope(who);
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.listener_fd = listener;
  connection.fd = socket.release();
  taker_->HandleNewConnection(&connection);
}

}  // namespace farvec::rpc
