#include "layout/partial_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "layout/index_directory.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

fs::path without_trailing_slash(const fs::path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

void require_target(const fs::path& target, bool overwrite) {
  if (!fs::exists(fs::symlink_status(target))) return;
  if (!overwrite) {
    throw Error("'{}' exists: choose another directory, or give --overwrite to replace the index",
                target.string());
  }
  if (fs::is_symlink(target) || !fs::is_directory(target) ||
      (!fs::is_empty(target) && !fs::exists(target / kManifestFile))) {
    throw Error("'{}' is not an index and will not be overwritten: choose another directory",
                target.string());
  }
}

bool same_file(int fd, const fs::path& path) {
  struct stat by_fd {};
  struct stat by_path {};
  return fstat(fd, &by_fd) == 0 && lstat(path.c_str(), &by_path) == 0 &&
         by_fd.st_ino == by_path.st_ino && by_fd.st_dev == by_path.st_dev;
}

/// Gives `from` the name `to`; what was there, if anything, then has the name `from`.
void exchange(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != ENOENT && errno != EINVAL && errno != ENOSYS) {
    throw SystemError(errno, "giving '{}' the name '{}'", from.string(), to.string());
  }
  // Nothing there, or a file system without exchange.
  const fs::path aside = from.string() + ".old";
  const bool replaced = std::rename(to.c_str(), aside.c_str()) == 0;
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    const int failed = errno;
    if (replaced) std::rename(aside.c_str(), to.c_str());
    throw SystemError(failed, "giving '{}' the name '{}'", from.string(), to.string());
  }
  if (replaced) std::rename(aside.c_str(), from.c_str());
}

}  // namespace

fs::path parent_of(const fs::path& path) {
  const fs::path parent = without_trailing_slash(path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

void sync_directory(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw SystemError(errno, "opening '{}' to sync it", path.string());
  const int failed = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // EINVAL: this file system has no directories to sync.
  if (failed != 0 && failed != EINVAL) throw SystemError(failed, "syncing '{}'", path.string());
}

std::uint64_t free_bytes(const fs::path& directory) {
  struct statvfs info {};
  if (statvfs(directory.c_str(), &info) != 0) {
    throw SystemError(errno, "asking how much room '{}' has", directory.string());
  }
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

PartialDirectory::PartialDirectory(const fs::path& target, bool overwrite)
    : target_(without_trailing_slash(target)), partial_(target_.string() + ".partial") {
  require_target(target_, overwrite);
  if (mkdir(partial_.c_str(), 0755) != 0 && errno != EEXIST) {
    throw SystemError(errno, "creating '{}'", partial_.string());
  }
  fd_ = open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) throw SystemError(errno, "opening '{}'", partial_.string());
  try {
    lock();
  } catch (...) {
    close(fd_);
    throw;
  }
}

void PartialDirectory::lock() {
  // The second test: a writer that finished in between has given this very directory its name.
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0 || !same_file(fd_, partial_)) {
    throw Error(
        "'{}' is being written by another process: wait for it, or choose another directory",
        partial_.string());
  }
  for (const auto& entry : fs::directory_iterator(partial_)) fs::remove_all(entry.path());
}

PartialDirectory::~PartialDirectory() {
  std::error_code ignored;  // nothing better can be done with it here
  if (!published_) fs::remove_all(partial_, ignored);
  close(fd_);
}

void PartialDirectory::publish() {
  sync_directory(partial_);
  exchange(partial_, target_);
  published_ = true;
  fs::remove_all(partial_);
  sync_directory(parent_of(target_));
}

}  // namespace farvec::layout
