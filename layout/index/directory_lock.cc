#include "layout/index/directory_lock.h"

#include <fcntl.h>

#include <cerrno>

#include "base/error.h"
#include "base/file_names.h"

namespace farvec::layout {

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : fd_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_.get() < 0) throw SystemError(errno, "opening '{}'", directory.string());
  // The second test is for a writer that finished in between and gave the name to another
  // directory.
  if (try_lock(fd_.get()) == FileLock::held || !is_file_at(fd_.get(), directory)) {
    throw Error(
        "'{}' is being written by another process: wait for it, or choose another directory",
        directory.string());
  }
}

bool DirectoryLock::is_of(const std::filesystem::path& directory) const {
  return is_file_at(fd_.get(), directory);
}

}  // namespace farvec::layout
