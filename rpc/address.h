// An Address is where a daemon listens and a client connects: "HOST:PORT" or "unix:/path".
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace farvec::rpc {

struct Address {
  std::string host;        ///< name, IPv4, or IPv6 without brackets; empty for a Unix socket
  std::uint16_t port = 0;  ///< 0: the kernel chooses
  std::string unix_path;   ///< empty for TCP

  bool is_unix() const { return !unix_path.empty(); }
};

/// Parses an address; IPv6 is written "[::1]:7700". Throws Error naming the two accepted forms. A
/// Unix path is at most 107 bytes (the kernel's limit).
Address parse_address(std::string_view text);

/// Parses addresses separated by commas. Throws Error also when one is named twice.
std::vector<Address> parse_addresses(std::string_view text);

/// Writes the form that parse_address() reads, which is also gRPC's own notation.
std::string to_string(const Address& address);

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Returns every socket address of a TCP address's host. Throws Error when the name does not
/// resolve.
AddressList resolve(const Address& address);

/// Returns true for a Unix socket, and for a host whose addresses are all loopback addresses.
/// Throws Error when the name does not resolve.
bool is_local(const Address& address);

/// Returns true when gRPC's name of a caller ("unix:", "ipv4:127.0.0.1:4711",
/// "ipv6:%5B::1%5D:4711") belongs to this machine.
bool is_local_peer(std::string_view peer);
/// Says whether the caller came through a Unix socket.
bool is_unix_peer(std::string_view peer);

/// Throws Error when `address` can be reached from other machines and the service there is neither
/// encrypted nor authenticated, unless that was asked for: `allowed` is --insecure, or TLS.
void require_safe_binding(const Address& address, bool allowed);

/// Throws Error when something already listens there, SystemError when the address cannot be bound
/// for another reason. A stale Unix socket file without a listener passes.
void require_free(const Address& address);

}  // namespace farvec::rpc
