#include "base/output_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file_names.h"

namespace farvec {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the same limit as Linux

/// The descriptor that a path below /dev/fd or /proc/self/fd names, or -1.
int own_descriptor(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::canonical(parent_of(path), error);
  if (error || folder != fmt::format("/proc/{}/fd", getpid())) return -1;
  const std::string name = fs::path(path).filename();
  int descriptor = -1;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), descriptor);
  return failed == std::errc() && *end == '\0' ? descriptor : -1;
}

bool is_partial_of(std::string_view name, const std::string& target_name) {
  constexpr std::string_view kEnd = ".partial";
  constexpr std::size_t kDigits = 16;
  if (name.size() != target_name.size() + 1 + kDigits + kEnd.size()) return false;
  if (!name.starts_with(target_name + ".") || !name.ends_with(kEnd)) return false;
  const auto digits = name.substr(target_name.size() + 1, kDigits);
  return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Removes the file unless a living writer has its lock.
void remove_if_dead(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && try_lock(fd) == FileLock::taken &&
      is_file_at(fd, path)) {
    unlink(path.c_str());
  }
  close(fd);
}

}  // namespace

std::string follow_links(std::string path) {
  for (int links = 0; links < kMostLinks; ++links) {
    if (own_descriptor(path) >= 0) return path;
    std::error_code error;
    const fs::path next = fs::read_symlink(path, error);
    if (error) return path;
    path = next.is_absolute() ? next : fs::path(path).parent_path() / next;
  }
  throw SystemError(ELOOP, "following the links of '{}'", path);
}

bool is_written_directly(const std::string& path) {
  if (own_descriptor(follow_links(path)) >= 0) return true;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return false;
  if (S_ISDIR(info.st_mode)) throw Error("'{}' is a folder: give the name of a file", path);
  return !S_ISREG(info.st_mode);
}

int open_directly(const std::string& path) {
  const int own = own_descriptor(follow_links(path));
  // A second open() of a file would write over what this process has written through the
  // descriptor.
  std::error_code ignored;
  const int fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0)
                          : open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 && errno == ENXIO && fs::is_fifo(path, ignored)) {
    throw Error("the FIFO '{}' has no reader: start its reader first", path);
  }
  if (fd < 0) throw SystemError(errno, "opening '{}' for writing", path);
  if (own < 0) (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

void remove_dead_partials(const std::string& target) {
  std::error_code error;
  fs::directory_iterator entry(parent_of(target), error);
  const std::string name = fs::path(target).filename();
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_partial_of(entry->path().filename().native(), name)) remove_if_dead(entry->path());
  }
}

}  // namespace farvec
