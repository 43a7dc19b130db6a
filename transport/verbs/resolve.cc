#include "transport/verbs/resolve.h"

#include "base/error.h"

namespace farvec::transport {

SocketAddress resolve_rdma_address(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) throw Error("cannot resolve the RDMA address {}: {}", host, gai_strerror(error));
  return SocketAddress(found);
}

}  // namespace farvec::transport
