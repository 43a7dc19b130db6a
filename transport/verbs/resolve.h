// Resolves host names to socket addresses for rdma_cm.
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string>

namespace farvec::transport {

struct AddressDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using SocketAddress = std::unique_ptr<addrinfo, AddressDeleter>;

/// Throws Error naming the host.
SocketAddress resolve_rdma_address(const std::string& host, std::uint16_t port);

}  // namespace farvec::transport
