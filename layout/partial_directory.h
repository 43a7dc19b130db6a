// A directory that appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <filesystem>

namespace farvec::layout {

/// Writes go to path(), which is `target`.partial; publish() gives it its name; without it the
/// destructor removes everything. Two writers of one target: the second one throws. What a killed
/// writer left behind is removed by the next one.
class PartialDirectory {
 public:
  /// Throws Error when `target` exists and `overwrite` is false, or when it exists and is not an
  /// index; SystemError when the directory cannot be made.
  PartialDirectory(const std::filesystem::path& target, bool overwrite);
  ~PartialDirectory();
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  const std::filesystem::path& path() const { return partial_; }

  /// Syncs the directory, renames it, removes what had the name before, syncs the parent.
  void publish();

 private:
  void lock();

  std::filesystem::path target_;
  std::filesystem::path partial_;
  int fd_ = -1;  ///< holds the writers' lock
  bool published_ = false;
};

/// Bytes that this process may still write below `directory`. Throws SystemError.
std::uint64_t free_bytes(const std::filesystem::path& directory);

/// Makes names in it outlive a loss of power. Throws SystemError.
void sync_directory(const std::filesystem::path& path);

/// The folder that holds `path`; "." for a bare name.
std::filesystem::path parent_of(const std::filesystem::path& path);

}  // namespace farvec::layout
