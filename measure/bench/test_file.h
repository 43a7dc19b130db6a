// Makes a file to read from while a disk is measured.
#pragma once

#include <cstdint>
#include <string>

namespace farvec::measure {

/// Holds a file full of random bytes and without a name: it is gone when this is destroyed or the
/// process ends, however it ends.
class TestFile {
 public:
  /// Says on stderr what it is going to write and where, then writes it with progress, past the
  /// page cache where the file system can. Throws Error when the folder's disk has too little room,
  /// SystemError when it cannot be written.
  TestFile(std::string folder, std::uint64_t bytes, bool quiet = false);
  ~TestFile();
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

  /// Opens the file, in this and in other processes of the same user, while this lives.
  std::string path() const;

 private:
  void create();
  void fill(std::uint64_t bytes, bool quiet);

  const std::string folder_;
  int descriptor_ = -1;
};

}  // namespace farvec::measure
