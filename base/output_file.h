// An OutputFile is a file that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace farvec {

/// Writes to a temporary file beside `path`, whose name ends in ".partial" and which is locked.
/// commit() gives it the name. Without commit() it is removed, and the file that had the name stays
/// unchanged. When several writers in any processes write the same name, the last commit() wins.
/// The next writer of a name removes what a killed writer left. A link stays a link, and leads to
/// the new file.
///
/// What is not a regular file (a device, a FIFO), and what stands for one of this process's
/// descriptors (/dev/stdout), is written to directly: there append() takes effect at once and
/// nothing can be undone.
class OutputFile {
 public:
  /// `expected_bytes` is the final size; the message about a full disk names it. Throws
  /// SystemError, and Error for a folder and for a FIFO without a reader.
  OutputFile(std::string path, std::uint64_t expected_bytes);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Returns the temporary file beside `path`, for a library that opens files by name. The library
  /// must neither replace nor lock it. Empty when `path` is written to directly.
  const std::string& partial_path() const { return partial_path_; }

  void append(const void* data, std::size_t bytes);
  /// Overwrites bytes that were appended before, e.g. a header whose count is known at the end.
  /// Throws Error when `path` is written to directly.
  void overwrite(std::uint64_t offset, const void* data, std::size_t bytes);
  /// Syncs the bytes, renames the file and syncs its folder.
  void commit();

 private:
  void create_partial();
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  [[noreturn]] void fail_to_write(int error, std::uint64_t offset) const;

  std::string path_;
  std::string target_;        ///< where the links of path_ lead
  std::string partial_path_;  ///< empty: path_ is written to directly
  std::uint64_t expected_bytes_;
  std::uint64_t written_ = 0;
  int fd_ = -1;
};

/// Throws what writing to `path` would throw at its beginning; opens no FIFO and changes nothing.
void check_output(const std::string& path);

}  // namespace farvec
