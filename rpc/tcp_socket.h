// connect_tcp() makes a TCP connection with a bounded wait.
#pragma once

#include <chrono>

#include "rpc/address.h"
#include "rpc/unix_socket.h"

namespace farvec::rpc {

struct TcpAttempt {
  Descriptor socket;     ///< invalid when none of the host's addresses accepted
  bool refused = false;  ///< every one of them refused at once: nothing listens on the port
};

/// Connects to the first of the host's addresses that accepts. `patience` bounds the wait for each,
/// and every later send and receive on the socket. An unknown name is not an error, because it may
/// become known later.
TcpAttempt connect_tcp(const Address& address, std::chrono::milliseconds patience);

}  // namespace farvec::rpc
