#include "rpc/tcp_socket.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/error.h"

namespace farvec::rpc {

TcpAttempt connect_tcp(const Address& address, std::chrono::milliseconds patience) {
  AddressList list(nullptr, &freeaddrinfo);
  try {
    list = resolve(address);
  } catch (const Error&) {
    return {};
  }
  TcpAttempt attempt{.socket = {}, .refused = list != nullptr};
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    Descriptor socket(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.valid()) {
      attempt.refused = false;
      continue;
    }
    set_socket_timeout(socket.get(), patience);  // connect() obeys it too
    if (connect(socket.get(), entry->ai_addr, entry->ai_addrlen) == 0) {
      return {std::move(socket), false};
    }
    if (errno != ECONNREFUSED) attempt.refused = false;
  }
  return attempt;
}

}  // namespace farvec::rpc
