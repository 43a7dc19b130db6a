#include "base/file_names.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "base/error.h"

namespace farvec {

namespace fs = std::filesystem;

namespace {

/// "a/b/" and "a/b" name one folder.
fs::path without_slash_at_end(const fs::path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

}  // namespace

fs::path settled_path(const fs::path& path) {
  if (path.empty()) return path;
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error) return path;  // the working folder was removed
  const fs::path settled = fs::weakly_canonical(whole, error);
  return without_slash_at_end(error ? whole.lexically_normal() : settled);
}

fs::path settled_name(const fs::path& path) {
  const fs::path bare = without_slash_at_end(path);
  const fs::path name = bare.filename();
  if (name.empty() || name == "." || name == "..") return settled_path(path);
  return settled_path(parent_of(bare)) / name;
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    // How many bytes follow, and the smallest character that needs this many.
    const std::size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if ((first >= 0x80 && first < 0xc0) || first > 0xf7 || at + more >= bytes.size()) return false;
    std::uint32_t character = more == 0 ? first : first & (0x3fu >> more);
    for (std::size_t i = 1; i <= more; ++i) {
      const auto next = static_cast<unsigned char>(bytes[at + i]);
      if ((next & 0xc0) != 0x80) return false;
      character = character << 6 | (next & 0x3f);
    }
    const bool surrogate = character >= 0xd800 && character < 0xe000;
    if (character < kLeast[more] || character > 0x10ffff || surrogate) return false;
    at += more + 1;
  }
  return true;
}

fs::path parent_of(const fs::path& path) {
  const bool slash_at_end = !path.has_filename() && path.has_relative_path();
  const fs::path parent = (slash_at_end ? path.parent_path() : path).parent_path();
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

void rename_path(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  throw SystemError(errno, "giving '{}' the name '{}'", from.string(), to.string());
}

bool exchange_paths(const fs::path& one, const fs::path& other) {
  if (renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno == EINVAL || errno == ENOSYS) return false;
  throw SystemError(errno, "giving '{}' the name '{}'", one.string(), other.string());
}

NewFolders::NewFolders(const fs::path& folder) {
  std::vector<fs::path> missing;  // innermost first
  std::error_code error;
  for (fs::path path = folder; !path.empty(); path = path.parent_path()) {
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) break;
    if (fs::exists(status)) throw Error("'{}' is there and is no folder", path.string());
    if (path.has_filename()) missing.push_back(path);
    if (path == path.parent_path()) break;
  }
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    if (mkdir(path->c_str(), 0777) == 0) {
      made_.push_back(*path);
    } else if (errno != EEXIST) {
      const int failed = errno;
      take_back();
      throw SystemError(failed, "creating '{}'", path->string());
    }
  }
}

void NewFolders::take_back() const noexcept {
  for (auto path = made_.rbegin(); path != made_.rend(); ++path) rmdir(path->c_str());
}

FileLock try_lock(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return FileLock::taken;
  return errno == EWOULDBLOCK ? FileLock::held : FileLock::none;
}

bool is_file_at(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace farvec
