// A Server is a gRPC server run in the way of both daemons: one address, health, reflection,
// bounded shutdown.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rpc/acceptor.h"
#include "rpc/address.h"
#include "rpc/health_service.h"
#include "rpc/socket_lock.h"
#include "rpc/tls.h"

namespace farvec::rpc {

struct ServerOptions {
  Address address;
  bool insecure = false;           ///< allows an address that other machines can reach without TLS
  std::shared_ptr<const Tls> tls;  ///< null: no TLS
  std::vector<grpc::Service*> services;  ///< borrowed; must outlive the server
  /// Called last on the builder, to set completion queues and message sizes.
  std::function<void(grpc::ServerBuilder&)> configure;
};

/// Listens from construction on; health says NOT_SERVING until set_serving(true). Only the owner
/// may connect to a Unix socket (mode 0600), for which a SocketLock is held. With TLS the log says
/// which peer was refused and why. Thread-safe.
class Server {
 public:
  /// Throws Error for an unsafe binding, an address in use, or one that cannot be bound.
  explicit Server(ServerOptions options);
  ~Server();  ///< calls shutdown() with one second
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns the address, with the port that the kernel chose when 0 was asked for.
  const Address& address() const { return address_; }

  /// Sets the standard health service's answer for "".
  void set_serving(bool serving);

  /// Accepts no new calls, gives running ones `grace`, then cancels them. Idempotent. A Unix socket
  /// file is removed.
  void shutdown(std::chrono::milliseconds grace);

 private:
  Address address_;
  SocketLock lock_;  ///< the lock of a Unix address
  HealthService health_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Acceptor> acceptor_;  ///< null: gRPC itself listens, on TCP without TLS
};

}  // namespace farvec::rpc
