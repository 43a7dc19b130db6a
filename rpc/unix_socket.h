// Makes Unix-domain sockets with bounded waits, and sends file descriptors through them.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace farvec::rpc {

inline constexpr std::size_t kMaxUnixPathBytes = 107;
/// The kernel takes at most this many descriptors in one message (SCM_MAX_FD).
inline constexpr std::size_t kMaxDescriptorsPerMessage = 253;
inline constexpr std::chrono::seconds kConnectTimeout{5};

/// Returns true when a connection to the socket file is accepted, or would be. Does not wait.
bool someone_listens(const std::string& path);

/// Listens on `path` with mode 0600, replacing a stale socket file; hold the path's SocketLock
/// meanwhile. Throws Error when something listens there, SystemError otherwise.
Descriptor listen_unix(const std::string& path);

/// Waits at most `timeout` for room in the listener's backlog; it also bounds sends on the socket
/// until set_socket_timeout. Throws SystemError; ETIMEDOUT when the time passed.
Descriptor connect_unix(const std::string& path,
                        std::chrono::milliseconds timeout = kConnectTimeout);

/// Bounds every send and receive on the socket. Throws SystemError.
void set_socket_timeout(int socket, std::chrono::milliseconds timeout);

/// Sends all bytes, and the descriptors with the first of them. Throws SystemError; ETIMEDOUT when
/// the socket's time-out passed.
void send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors);

/// Fills `bytes` completely and returns the descriptors that came along (close-on-exec). Throws
/// SystemError; ETIMEDOUT after the socket's time-out, ECONNRESET when the peer closed.
std::vector<Descriptor> receive_message(int socket, std::span<std::byte> bytes);

}  // namespace farvec::rpc
