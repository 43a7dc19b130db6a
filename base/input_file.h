// An InputFile is a file opened for reading at offsets, whose size is known before anything is
// allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace farvec {

/// Opens for reading, and never waits (open() of a FIFO without a writer would wait for ever). It
/// opens whatever has the name, so the caller checks the kind of file before it reads. Returns -1,
/// with errno from open().
int open_for_reading(const std::string& path, int flags = 0);

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
  /// The object keeps ownership. For libraries that read or map a descriptor.
  int descriptor() const { return fd_; }

  /// Fills `out` from `offset`. Throws Error naming the offset when the file ends before.
  void read_at(std::uint64_t offset, void* out, std::size_t bytes) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// Reads the whole file. Throws what InputFile throws, and Error when the file is longer than
/// `most_bytes`; `kind` ("a manifest") names in the message what it should be.
std::string read_text(const std::string& path, std::uint64_t most_bytes, std::string_view kind);

}  // namespace farvec
