#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/file_names.h"
#include "base/full_disk.h"
#include "base/output_target.h"

namespace farvec {
namespace {

constexpr int kAttempts = 16;

/// pwrite() at an offset, or write() where offsets do not exist.
ssize_t put(int fd, const void* data, std::size_t bytes, std::int64_t offset) {
  return offset < 0 ? write(fd, data, bytes) : pwrite(fd, data, bytes, static_cast<off_t>(offset));
}

/// Something that took the name while the file was being written is replaced only if it is a file,
/// too.
void require_file_or_nothing(const std::string& target) {
  struct stat info {};
  if (lstat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    throw Error("'{}' is no regular file any more and was not replaced", target);
  }
}

}  // namespace

OutputFile::OutputFile(std::string path, std::uint64_t expected_bytes)
    : path_(std::move(path)), expected_bytes_(expected_bytes) {
  if (is_written_directly(path_)) {
    fd_ = open_directly(path_);
    return;
  }
  target_ = settled_name(follow_links(path_)).string();
  remove_dead_partials(target_);
  create_partial();
}

void OutputFile::create_partial() {
  std::random_device random;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    partial_path_ = fmt::format("{}.{:08x}{:08x}.partial", target_, random(), random());
    fd_ = open(partial_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd_ < 0 && errno == EEXIST) continue;
    if (fd_ < 0) throw SystemError(errno, "creating '{}'", partial_path_);
    // Until it is locked, another writer may believe that it is a dead writer's file and remove it.
    if (try_lock(fd_) != FileLock::held && is_file_at(fd_, partial_path_)) return;
    close(std::exchange(fd_, -1));
  }
  throw Error("creating '{}': others keep removing it", partial_path_);
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  if (!partial_path_.empty()) unlink(partial_path_.c_str());
  close(fd_);
}

void OutputFile::append(const void* data, std::size_t bytes) {
  write_at(written_, data, bytes);
  written_ += bytes;
}

void OutputFile::overwrite(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (partial_path_.empty()) {
    throw Error(
        "'{}': its first bytes are known at the end only, and it is no regular file: write "
        "to one and copy it",
        path_);
  }
  write_at(offset, data, bytes);
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const bool direct = partial_path_.empty();
  if (direct) std::fflush(stdout);  // may be the same file
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t done = put(fd_, from, bytes, direct ? -1 : static_cast<std::int64_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_to_write(errno, offset);
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

void OutputFile::fail_to_write(int error, std::uint64_t offset) const {
  if (!is_full_disk(error)) {
    throw SystemError(error, "writing '{}' at offset {}", path_, offset);
  }
  throw SystemError(error, "writing '{}': no room after {} bytes, the file needs {} bytes in all{}",
                    path_, offset, expected_bytes_,
                    partial_path_.empty() ? ""
                                          : " (the partial file was removed; free the space or "
                                            "choose another folder)");
}

void OutputFile::commit() {
  // EINVAL: this file system or device has nothing to sync.
  if (fsync(fd_) != 0 && errno != EINVAL) throw SystemError(errno, "syncing '{}'", path_);
  if (!partial_path_.empty()) {
    require_file_or_nothing(target_);
    rename_path(partial_path_, target_);
  }
  close(std::exchange(fd_, -1));
  if (!partial_path_.empty()) sync_directory(parent_of(target_));
}

void check_output(const std::string& path) {
  if (!is_written_directly(path)) {
    const OutputFile made_and_removed(path, 0);
  } else if (access(path.c_str(), W_OK) != 0) {
    throw SystemError(errno, "opening '{}' for writing", path);
  }
}

}  // namespace farvec
