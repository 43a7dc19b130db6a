#include "layout/index/partial_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file_names.h"
#include "layout/index/index_directory.h"
#include "layout/index/index_files.h"
#include "layout/index/index_removal.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

void require_target(const fs::path& target, bool overwrite) {
  if (!fs::exists(fs::symlink_status(target))) return;
  if (!overwrite) {
    throw Error("'{}' exists: choose another directory, or give --overwrite to replace the index",
                target.string());
  }
  if (fs::is_symlink(target) || !fs::is_directory(target) ||
      (!fs::is_empty(target) && !is_index_manifest(target / kManifestFile))) {
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
    : target_(settled_name(target)), partial_(target_.string() + ".partial") {
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
  const std::vector<std::string> others = remove_index_files(partial_);
  if (others.empty()) return;
  throw Error("'{}' holds '{}', which is not farvec's: move that away, or choose another directory",
              partial_.string(), others.front());
}

PartialDirectory::~PartialDirectory() {
  if (!published_) remove_index_with_warning(partial_);
}

void PartialDirectory::publish(Manifest& manifest) {
  write_manifest(partial_, manifest);
  if (!target_lock_ || !fs::exists(target_)) {  // missing, or removed meanwhile
    rename_path(partial_, target_);
  } else if (!exchange_paths(partial_, target_)) {
    move_index(partial_, target_, manifest);
  }
  published_ = true;
  sync_directory(parent_of(target_));
  keep_others();
}

/// Moves what was in the folder of the index before, and is not farvec's, to the folder of the new
/// one.
void PartialDirectory::keep_others() const {
  for (const std::string& name : remove_index_files(partial_)) {
    fs::path kept = target_ / name;
    while (fs::exists(fs::symlink_status(kept))) kept += ".kept";
    rename_path(partial_ / name, kept);
  }
  remove_index_with_warning(partial_);
}

}  // namespace farvec::layout
