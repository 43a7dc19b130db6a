// A file opened for reading at offsets, whose size is known before anything is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace farvec {

/// Owns the descriptor. Reads are positional, so any number of threads may share one.
class InputFile {
 public:
  /// Throws SystemError when the file cannot be opened, Error when it is not a regular file.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Fills `out` from `offset`. Throws Error naming the offset when the file ends before.
  void read_at(std::uint64_t offset, void* out, std::size_t bytes) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace farvec
