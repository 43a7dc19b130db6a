// An Acceptor accepts the connections of a TLS server, so that a refused client has a name in the
// log. It also accepts those of a Unix socket, which gRPC would bind with wider rights.
#pragma once

#include <grpcpp/server_builder.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "rpc/address.h"
#include "rpc/refusal_log.h"
#include "rpc/unix_socket.h"

namespace farvec::rpc {

/// Listens, accepts on its own thread, and hands each connection to gRPC in a TlsPeerScope.
class Acceptor {
 public:
  using Taker = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;

  /// Listens on every address of the host, or on a Unix socket like listen_unix(). Throws Error or
  /// SystemError.
  explicit Acceptor(const Address& address);
  ~Acceptor() { stop(); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Returns the port that the kernel chose when 0 was asked for; the same on every address.
  std::uint16_t port() const { return port_; }
  /// Call it once. The taker's server must have started, and must not end before stop().
  void start(Taker taker);
  /// Stops accepting connections. Idempotent.
  void stop();

 private:
  void listen_on_host(const Address& address);
  void listen_on(const addrinfo& entry, const Address& address);
  void run();
  void accept_one(int listener);

  std::vector<Descriptor> listeners_;
  std::uint16_t port_;
  const std::shared_ptr<RefusalLog> refusals_ = std::make_shared<RefusalLog>();
  Descriptor wake_;  ///< an eventfd, readable when the thread must end
  Taker taker_;
  std::thread thread_;
};

}  // namespace farvec::rpc
