#include "layout/region/partial_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/file_names.h"
#include "layout/region/index_directory.h"
#include "layout/region/index_files.h"

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

}  // namespace

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
  partial_lock_.emplace(partial_);
  try {
    prepare(overwrite);
  } catch (...) {
    rmdir(partial_.c_str());
    throw;
  }
}

void PartialDirectory::prepare(bool overwrite) {
  require_target(target_, overwrite);  // a writer may have finished before the lock was taken
  if (fs::exists(target_)) target_lock_.emplace(target_);
  for (const auto& entry : fs::directory_iterator(partial_)) fs::remove_all(entry.path());
}

PartialDirectory::~PartialDirectory() {
  std::error_code ignored;  // nothing better can be done with it here
  if (!published_) fs::remove_all(partial_, ignored);
}

void PartialDirectory::publish(Manifest& manifest) {
  write_manifest(partial_, manifest);
  if (!target_lock_ || !fs::exists(target_)) {  // not there, or removed meanwhile
    rename_path(partial_, target_);
  } else if (!exchange_paths(partial_, target_)) {
    move_index(partial_, target_, manifest);
  }
  published_ = true;
  sync_directory(parent_of(target_));
  fs::remove_all(partial_);
}

}  // namespace farvec::layout
