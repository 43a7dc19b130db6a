// A file that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace farvec::dataset {

/// Writes to `path` + ".partial" and renames in commit(); without commit() the partial file is
/// removed and a file that had the name before stays as it was.
class OutputFile {
 public:
  /// `expected_bytes` is the final size; a full disk is reported with it.
  OutputFile(std::string path, std::uint64_t expected_bytes);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }

  void append(const void* data, std::size_t bytes);
  /// Overwrites bytes that were appended before, e.g. a header whose count is known at the end.
  void overwrite(std::uint64_t offset, const void* data, std::size_t bytes);
  /// Syncs the bytes, renames the file and syncs its folder.
  void commit();

 private:
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);

  std::string path_;
  std::string partial_path_;
  std::uint64_t expected_bytes_;
  std::uint64_t written_ = 0;
  int fd_ = -1;
};

/// Where OutputFile keeps the bytes until commit().
std::string partial_path(const std::string& path);

/// For files that a library wrote to partial_path() and closed: syncs, renames, syncs the folder.
void sync_and_publish(const std::string& path);

}  // namespace farvec::dataset
