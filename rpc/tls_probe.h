// Why two ends do not agree on TLS, in words for a person: gRPC itself only says "unavailable".
#pragma once

#include <chrono>
#include <string>

#include "rpc/address.h"
#include "rpc/tls.h"

namespace farvec::rpc {

/// Makes one connection to `address` as a client with `tls` (null: without) and says what is wrong
/// with it; empty when nothing is, when nobody listens there, or for a Unix socket. Each wait for
/// the peer, of which a handshake has a few, is bounded by `patience`. Any thread.
std::string tls_trouble(const Address& address, const Tls* tls, std::chrono::milliseconds patience);

}  // namespace farvec::rpc
