// Logs why gRPC's TLS handshakes fail. gRPC verifies certificates, but says neither which client
// came nor what was wrong.
#pragma once

#include <memory>
#include <string>

#include "rpc/refusal_log.h"

namespace farvec::rpc {

struct TlsPeer {
  std::string name;                 ///< Refusal::peer
  std::shared_ptr<RefusalLog> log;  ///< bounds the number of lines
};

/// TLS sessions that this thread makes while this object lives are with `peer`: when such a
/// handshake fails, the log names the peer and the reason. It only listens: OpenSSL's decision
/// about a certificate is not changed. gRPC makes the session of a connection while the connection
/// is handed to it, on the same thread.
class TlsPeerScope {
 public:
  explicit TlsPeerScope(const TlsPeer& peer);
  ~TlsPeerScope();
  TlsPeerScope(const TlsPeerScope&) = delete;
  TlsPeerScope& operator=(const TlsPeerScope&) = delete;
};

/// Sends gRPC's own log through farvec's, without its lines on failed handshakes, which name no
/// peer. It applies to the whole process; a second call does nothing.
void watch_tls();

}  // namespace farvec::rpc
