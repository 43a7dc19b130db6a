#include "rpc/socket_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file_names.h"

namespace farvec::rpc {
namespace {

constexpr int kAttempts = 8;

[[noreturn]] void refuse_held(const std::string& socket_path) {
  throw Error(
      "cannot listen on unix:{}: something already listens there; stop it or choose another "
      "address",
      socket_path);
}

}  // namespace

SocketLock::SocketLock(const std::string& socket_path) : path_(socket_path + ".lock") {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Descriptor file(
        open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    if (!file.valid()) throw SystemError(errno, "opening {}", path_);
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) refuse_held(socket_path);
      throw SystemError(errno, "locking {}", path_);
    }
    // Otherwise its holder removed it after this open; a lock on a file without a name is worth
    // nothing.
    if (is_file_at(file.get(), path_)) {
      file_ = std::move(file);
      return;
    }
  }
  refuse_held(socket_path);  // other processes keep taking it
}

void SocketLock::release() {
  if (!file_.valid()) return;
  // The lock is still held, so the name is this process's. A process that has opened it meanwhile
  // finds it gone and tries again.
  unlink(path_.c_str());
  file_.reset();
}

}  // namespace farvec::rpc
