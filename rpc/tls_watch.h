// Why gRPC's TLS handshakes fail. gRPC verifies, and says neither who came nor what was wrong.
#pragma once

#include <memory>
#include <string>

#include "rpc/refusal_log.h"

namespace farvec::rpc {

struct TlsPeer {
  std::string name;                 ///< Refusal::peer
  std::shared_ptr<RefusalLog> log;  ///< bounds what is said
};

/// The TLS sessions that this thread makes as long as this lives are with `peer`: when such a
/// handshake fails, the log says who and why. Only listens: what OpenSSL
/// decides about a certificate stands. gRPC makes the session of a connection while the connection
/// is handed to it, on the same thread.
class TlsPeerScope {
 public:
  explicit TlsPeerScope(const TlsPeer& peer);
  ~TlsPeerScope();
  TlsPeerScope(const TlsPeerScope&) = delete;
  TlsPeerScope& operator=(const TlsPeerScope&) = delete;
};

/// Sends gRPC's own log through ours, without its lines on failed handshakes, which name nobody.
/// For the whole process; again does nothing.
void watch_tls();

}  // namespace farvec::rpc
