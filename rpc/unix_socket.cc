#include "rpc/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/error.h"

namespace farvec::rpc {
namespace {

constexpr int kBacklog = 1024;

Descriptor unix_stream_socket(int flags = 0) {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket.valid()) throw SystemError(errno, "making a Unix socket");
  return socket;
}

sockaddr_un to_sockaddr(const std::string& path) {
  if (path.empty() || path.size() > kMaxUnixPathBytes) {
    throw Error("Unix socket path '{}' must have 1 to {} bytes", path, kMaxUnixPathBytes);
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

/// Returns 0 or the errno.
int connect_to(int socket, const std::string& path) {
  const sockaddr_un address = to_sockaddr(path);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  while (connect(socket, generic, sizeof(address)) != 0) {
    if (errno != EINTR) return errno;  // an interrupted Unix connect leaves nothing behind
  }
  return 0;
}

/// A blocking call that hit the socket's time-out reports EAGAIN; people know it as ETIMEDOUT.
int readable(int error) {
  return error == EAGAIN || error == EWOULDBLOCK ? ETIMEDOUT : error;
}

/// `option` is SO_RCVTIMEO or SO_SNDTIMEO.
void set_timeout(int socket, int option, std::chrono::milliseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  timeval value{};
  value.tv_sec = seconds.count();
  value.tv_usec = std::chrono::microseconds(timeout - seconds).count();
  if (setsockopt(socket, SOL_SOCKET, option, &value, sizeof(value)) != 0) {
    throw SystemError(errno, "setting a time-out of {} ms on a socket", timeout.count());
  }
}

using ControlBuffer = std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptorsPerMessage)>;

void attach_descriptors(msghdr& message, ControlBuffer& control, std::span<const int> descriptors) {
  if (descriptors.empty()) return;
  FARVEC_CHECK(descriptors.size() <= kMaxDescriptorsPerMessage, "{}", descriptors.size());
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
}

void collect_descriptors(msghdr& message, std::vector<Descriptor>& out) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
      out.emplace_back(fd);
    }
  }
}

}  // namespace

bool someone_listens(const std::string& path) {
  const Descriptor socket = unix_stream_socket(SOCK_NONBLOCK);
  const int error = connect_to(socket.get(), path);
  return error == 0 || error == EAGAIN;  // EAGAIN: the listener's backlog is full
}

Descriptor listen_unix(const std::string& path) {
  if (someone_listens(path)) {
    throw Error("cannot listen on unix:{}: something already listens there", path);
  }
  struct stat file {};
  if (lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode)) unlink(path.c_str());
  Descriptor socket = unix_stream_socket();
  const sockaddr_un address = to_sockaddr(path);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    throw SystemError(errno, "binding unix:{}", path);
  }
  // Before listen(): no client can connect until then, so the rights are never wider.
  if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) {
    throw SystemError(errno, "restricting unix:{} to its owner", path);
  }
  if (listen(socket.get(), kBacklog) != 0) throw SystemError(errno, "listening on unix:{}", path);
  return socket;
}

Descriptor connect_unix(const std::string& path, std::chrono::milliseconds timeout) {
  Descriptor socket = unix_stream_socket();
  set_timeout(socket.get(), SO_SNDTIMEO, timeout);  // the kernel bounds connect() by it too
  const int error = connect_to(socket.get(), path);
  if (error != 0) throw SystemError(readable(error), "connecting to unix:{}", path);
  return socket;
}

void set_socket_timeout(int socket, std::chrono::milliseconds timeout) {
  for (int option : {SO_RCVTIMEO, SO_SNDTIMEO}) set_timeout(socket, option, timeout);
}

void send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors) {
  ControlBuffer control{};
  while (!bytes.empty()) {
    iovec vector{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    attach_descriptors(message, control, descriptors);
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw SystemError(readable(errno), "sending {} bytes to a peer", bytes.size());
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
    descriptors = {};
  }
}

std::vector<Descriptor> receive_message(int socket, std::span<std::byte> bytes) {
  std::vector<Descriptor> descriptors;
  while (!bytes.empty()) {
    ControlBuffer control{};
    iovec vector{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError(readable(errno), "receiving {} bytes", bytes.size());
    collect_descriptors(message, descriptors);
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
      throw SystemError(EMFILE, "receiving descriptors: this process may open no more files");
    }
    if (got == 0) throw SystemError(ECONNRESET, "the peer closed the connection");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return descriptors;
}

}  // namespace farvec::rpc
