#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace farvec {

int open_for_reading(const std::string& path, int flags) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
  if (fd < 0) return fd;
  // With O_NONBLOCK io_uring would return reads undone that have to wait for a disk.
  const int set = fcntl(fd, F_GETFL);
  if (set >= 0) (void)fcntl(fd, F_SETFL, set & ~O_NONBLOCK);
  return fd;
}

InputFile::InputFile(std::string path) : path_(std::move(path)), fd_(open_for_reading(path_)) {
  if (fd_ < 0) throw SystemError(errno, "opening '{}' for reading", path_);
  struct stat info {};
  if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd_);
    throw Error("'{}' is not a regular file: give the path of a file", path_);
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
}

InputFile::~InputFile() {
  close(fd_);
}

void InputFile::read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
  auto* to = static_cast<std::byte*>(out);
  while (bytes > 0) {
    const ssize_t got = pread(fd_, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError(errno, "reading '{}' at offset {}", path_, offset);
    if (got == 0) {
      throw Error("'{}' ends at offset {}, {} bytes early: it is truncated, fetch it again", path_,
                  offset, bytes);
    }
    to += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

std::string read_text(const std::string& path, std::uint64_t most_bytes, std::string_view kind) {
  const InputFile file(path);
  if (file.size() > most_bytes) {
    throw Error("'{}' has {} bytes, and {} has at most {}", path, file.size(), kind, most_bytes);
  }
  std::string text(file.size(), '\0');
  file.read_at(0, text.data(), text.size());
  return text;
}

}  // namespace farvec
