// The right to change a directory of an index, which one process has at a time.
#pragma once

#include <filesystem>

namespace farvec::layout {

/// Held until it is destroyed or its process ends, however that ends. Where the file system has no
/// locks, everybody has the right.
class DirectoryLock {
 public:
  /// Throws Error when another process has it or `directory` is a link, SystemError when it cannot
  /// be opened.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace farvec::layout
