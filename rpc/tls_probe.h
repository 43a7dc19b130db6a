// tls_trouble() says in words for a person why two ends do not agree on TLS: gRPC itself only says
// "unavailable".
#pragma once

#include <chrono>
#include <string>

#include "rpc/address.h"
#include "rpc/tls.h"

namespace farvec::rpc {

/// Makes one connection to `address` as a client with `tls` (null: without) and says what is wrong
/// with it. Empty when nothing is wrong, when nothing listens there, or for a Unix socket. A
/// handshake has a few waits for the peer, and `patience` bounds each of them. Any thread.
std::string tls_trouble(const Address& address, const Tls* tls, std::chrono::milliseconds patience);

}  // namespace farvec::rpc
