// The client's end: a connected channel, or an error that says whom we waited for.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "base/error.h"
#include "rpc/address.h"
#include "rpc/tls.h"

namespace farvec::rpc {

/// Nothing listens at the address now: the port refuses, or the socket is not there.
class NobodyListens : public Error {
 public:
  using Error::Error;
};

struct ConnectOptions {
  std::chrono::milliseconds wait{10'000};
  /// Whether the wait is also for somebody who listens; else connect() throws NobodyListens at
  /// once.
  bool await_listener = true;
  int max_message_bytes = 64 << 20;
  /// When set, connect() gives up as soon as it becomes true.
  const std::atomic<bool>* stop = nullptr;
  std::shared_ptr<const Tls> tls;  ///< null: none
};

/// The only place where farvec makes a channel. It goes straight to the peer, whatever http_proxy
/// and its like say, by a connection of its own. Tries again (with gRPC's back-off, at most a
/// second apart) until the peer answers or the wait is over. Throws Error naming the address and
/// the time waited, or, before the wait is over, why the two ends do not agree on TLS, or
/// NobodyListens.
std::shared_ptr<grpc::Channel> connect(const Address& address, const ConnectOptions& options = {});

/// The standard health service's answer for the whole server: true when SERVING. False also when
/// the call fails within `timeout`.
bool is_serving(const std::shared_ptr<grpc::Channel>& channel, std::chrono::milliseconds timeout);

}  // namespace farvec::rpc
