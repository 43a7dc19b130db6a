#include "dataset/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/error.h"

namespace farvec::dataset {

namespace {

// EINVAL: this file system or device has nothing to sync.
void sync_and_close(int fd, const std::string& path) {
  const int failed = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  if (failed != 0 && failed != EINVAL) throw SystemError(failed, "syncing '{}'", path);
}

void publish_partial(const std::string& path) {
  if (std::rename(partial_path(path).c_str(), path.c_str()) != 0) {
    throw SystemError(errno, "renaming '{}' to '{}'", partial_path(path), path);
  }
  auto folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw SystemError(errno, "opening folder '{}' to sync it", folder.string());
  sync_and_close(fd, folder.string());
}

}  // namespace

std::string partial_path(const std::string& path) {
  return path + ".partial";
}

void sync_and_publish(const std::string& path) {
  const std::string partial = partial_path(path);
  const int fd = open(partial.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw SystemError(errno, "opening '{}' to sync it", partial);
  sync_and_close(fd, partial);
  publish_partial(path);
}

OutputFile::OutputFile(std::string path, std::uint64_t expected_bytes)
    : path_(std::move(path)), partial_path_(partial_path(path_)), expected_bytes_(expected_bytes) {
  fd_ = open(partial_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) throw SystemError(errno, "creating '{}'", partial_path_);
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(partial_path_.c_str());
}

void OutputFile::append(const void* data, std::size_t bytes) {
  write_at(written_, data, bytes);
  written_ += bytes;
}

void OutputFile::overwrite(std::uint64_t offset, const void* data, std::size_t bytes) {
  write_at(offset, data, bytes);
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t put = pwrite(fd_, from, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
      throw SystemError(errno,
                        "writing '{}': no room after {} bytes, the file needs {} bytes in all "
                        "(the partial file was removed; free the space or choose another folder)",
                        path_, offset, expected_bytes_);
    }
    if (put < 0) throw SystemError(errno, "writing '{}' at offset {}", partial_path_, offset);
    from += put;
    offset += static_cast<std::uint64_t>(put);
    bytes -= static_cast<std::size_t>(put);
  }
}

void OutputFile::commit() {
  try {
    sync_and_close(std::exchange(fd_, -1), partial_path_);
    publish_partial(path_);
  } catch (...) {
    unlink(partial_path_.c_str());
    throw;
  }
}

}  // namespace farvec::dataset
