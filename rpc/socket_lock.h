// A SocketLock is the right to listen on a Unix socket's path.
#pragma once

#include <string>

#include "rpc/unix_socket.h"

namespace farvec::rpc {

/// Holds a lock on the file PATH.lock beside the socket file PATH. Under the lock, looking for a
/// listener, taking over its stale socket file and removing it in the end are one step. The kernel
/// releases the lock when the process dies. Not thread-safe.
class SocketLock {
 public:
  SocketLock() = default;  ///< holds nothing
  /// Throws Error when another process holds the path, SystemError when the lock file cannot be
  /// made.
  explicit SocketLock(const std::string& socket_path);
  ~SocketLock() { release(); }
  SocketLock(SocketLock&&) = delete;

  /// Removes the lock file and releases the path. Idempotent.
  void release();

 private:
  std::string path_;
  Descriptor file_;
};

}  // namespace farvec::rpc
