// A DirectoryLock is the right to change a directory of an index, which one process has at a time.
#pragma once

#include <filesystem>

#include "base/lock_descriptor.h"

namespace farvec::layout {

/// It is held until it is destroyed or its process ends in any way; children of the process have no
/// share in it. Where the file system has no locks, every process has the right.
class DirectoryLock {
 public:
  /// Throws Error when another process has it or `directory` is a link, SystemError when it cannot
  /// be opened.
  explicit DirectoryLock(const std::filesystem::path& directory);

  /// Says whether the directory that was locked is the one that has this name now.
  bool is_of(const std::filesystem::path& directory) const;

 private:
  const LockDescriptor fd_;
};

}  // namespace farvec::layout
