#include "rpc/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>

#include "base/error.h"
#include "rpc/unix_socket.h"

namespace farvec::rpc {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error("'{}' is not an address ({}); write HOST:PORT, [IPV6]:PORT or unix:/path", text, why);
}

std::uint16_t parse_port(std::string_view text, std::string_view digits) {
  std::uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  if (digits.empty() || error != std::errc() || stop != end) refuse(text, "port is not 0 to 65535");
  return port;
}

Address parse_unix(std::string_view text) {
  Address address;
  address.unix_path = text.substr(kUnixPrefix.size());
  if (address.unix_path.empty()) refuse(text, "the path is missing");
  if (address.unix_path.size() > kMaxUnixPathBytes) {
    refuse(text, fmt::format("the path is longer than {} bytes", kMaxUnixPathBytes));
  }
  return address;
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

[[noreturn]] void refuse_taken(const Address& address) {
  throw Error(
      "cannot listen on {}: something already listens there; stop it or choose another "
      "address",
      to_string(address));
}

void require_free_tcp(const Address& address, const addrinfo& candidate) {
  const Descriptor socket(::socket(candidate.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return;  // the machine does not have this address family
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(socket.get(), candidate.ai_addr, candidate.ai_addrlen) == 0) return;
  if (errno == EADDRINUSE) refuse_taken(address);
  throw SystemError(errno, "binding {}", to_string(address));
}

}  // namespace

Address parse_address(std::string_view text) {
  if (text.starts_with(kUnixPrefix)) return parse_unix(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse(text, "there is no port");
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    refuse(text, "IPv6 needs brackets");
  }
  if (host.empty()) refuse(text, "the host is missing");
  Address address;
  address.host = host;
  address.port = parse_port(text, text.substr(colon + 1));
  return address;
}

std::vector<Address> parse_addresses(std::string_view text) {
  std::vector<Address> addresses;
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    addresses.push_back(parse_address(text.substr(begin, comma - begin)));
    names.push_back(to_string(addresses.back()));
    if (std::count(names.begin(), names.end(), names.back()) > 1) {
      throw Error("'{}' names {} twice", text, names.back());
    }
    begin = comma + 1;
  }
  return addresses;
}

std::string to_string(const Address& address) {
  if (address.is_unix()) return fmt::format("{}{}", kUnixPrefix, address.unix_path);
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

AddressList resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(address.port);
  const int error = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &list);
  if (error != 0) throw Error("resolving host '{}': {}", address.host, gai_strerror(error));
  return {list, &freeaddrinfo};
}

bool is_local(const Address& address) {
  if (address.is_unix()) return true;
  const AddressList list = resolve(address);
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    if (!is_loopback(entry->ai_addr)) return false;
  }
  return true;
}

bool is_unix_peer(std::string_view peer) {
  return peer.starts_with(kUnixPrefix);
}

bool is_local_peer(std::string_view peer) {
  for (const std::string_view local :
       {"unix:", "unix-abstract:", "ipv4:127.",
        "ipv6:[::1]:", "ipv6:%5B::1%5D:", "ipv6:[::ffff:127.", "ipv6:%5B::ffff:127."}) {
    if (peer.starts_with(local)) return true;
  }
  return false;
}

void require_safe_binding(const Address& address, bool allowed) {
  if (allowed || is_local(address)) return;
  throw Error(
      "refusing to listen on {}: other machines can reach it, and the connection is neither "
      "encrypted nor authenticated; listen on 127.0.0.1 or unix:/path, give certificates "
      "(--tls-cert, --tls-key, --tls-ca; metrics have none), or pass --insecure when the network "
      "itself is trusted",
      to_string(address));
}

void require_free(const Address& address) {
  if (address.is_unix()) {
    if (someone_listens(address.unix_path)) refuse_taken(address);
    return;
  }
  const AddressList list = resolve(address);
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    require_free_tcp(address, *entry);
  }
}

}  // namespace farvec::rpc
