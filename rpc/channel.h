// connect() is the client's end: it returns a connected channel, or throws an error that names the
// peer.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "base/error.h"
#include "rpc/address.h"
#include "rpc/tls.h"

namespace farvec::rpc {

/// Nothing listens at the address now: the port refuses, or the socket file does not exist.
class NobodyListens : public Error {
 public:
  using Error::Error;
};

struct ConnectOptions {
  std::chrono::milliseconds wait{10'000};
  /// Whether to wait until something listens; else connect() throws NobodyListens at once.
  bool await_listener = true;
  int max_message_bytes = 64 << 20;
  /// When set, connect() gives up as soon as it becomes true.
  const std::atomic<bool>* stop = nullptr;
  std::shared_ptr<const Tls> tls;  ///< null: no TLS
};

/// farvec makes channels only here. The channel goes straight to the peer, whatever http_proxy and
/// similar variables say, over its own connection. Tries again (with gRPC's back-off, at most a
/// second apart) until the peer answers or the wait is over. Throws Error naming the address and
/// the time waited. Before the wait is over it throws Error when the two ends do not agree on TLS,
/// saying why, or NobodyListens.
std::shared_ptr<grpc::Channel> connect(const Address& address, const ConnectOptions& options = {});

/// Returns the standard health service's answer for the whole server: true when SERVING. False also
/// when the call fails within `timeout`.
bool is_serving(const std::shared_ptr<grpc::Channel>& channel, std::chrono::milliseconds timeout);

}  // namespace farvec::rpc
