// A PartialDirectory is a directory that appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "layout/index/directory_lock.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

/// Files are written to path(), which is `target`.partial; publish() gives it the name of the
/// target. Without publish() the destructor removes everything. At every moment, also when the
/// writer is killed, `target` is the old index or the new one. The second writer of a target
/// throws. What a killed writer left is removed by the next writer. Files that farvec did not make
/// are never removed: in `target`.partial they make the writer refuse, in `target` they are kept
/// beside the new index.
class PartialDirectory {
 public:
  /// Throws Error when `target` exists and `overwrite` is false, or when it exists and is not an
  /// index, or when either is being written by another process; SystemError when the directory
  /// cannot be made.
  PartialDirectory(const std::filesystem::path& target, bool overwrite);
  ~PartialDirectory();
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  const std::filesystem::path& path() const { return partial_; }

  /// Writes the manifest, renames the directory, syncs the parent, and removes the index that had
  /// the name before. Where two directories cannot be exchanged, the regions move into the old one
  /// and get other names in `manifest`.
  void publish(Manifest& manifest);

 private:
  void prepare(bool overwrite);
  void keep_others() const;

  std::filesystem::path target_;
  std::filesystem::path partial_;
  std::optional<DirectoryLock> partial_lock_;
  std::optional<DirectoryLock> target_lock_;  ///< set when there is an index to replace
  bool published_ = false;
};

/// Returns the bytes that this process may still write in `directory`. Throws SystemError.
std::uint64_t free_bytes(const std::filesystem::path& directory);

}  // namespace farvec::layout
