// Hands the fuzzer's bytes to code that reads files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"

namespace farvec::fuzz {

/// A file in /dev/shm (or TMPDIR) with the given suffix; the content is replaced by write().
class FuzzFile {
 public:
  explicit FuzzFile(const std::string& suffix) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr ? folder : "/dev/shm") + "/farvec_fuzz_" +
            std::to_string(getpid()) + suffix;
  }
  ~FuzzFile() { unlink(path_.c_str()); }
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;

  const std::string& write(const std::uint8_t* data, std::size_t size) const {
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    if (file == nullptr || std::fwrite(data, 1, size, file) != size) std::abort();
    std::fclose(file);
    return path_;
  }

 private:
  std::string path_;
};

/// Runs `action`; a thrown Error is an answer, anything else that goes wrong is a finding.
template <typename Action>
void expect_error_at_most(const Action& action) {
  try {
    action();
  } catch (const Error&) {
  }
}

}  // namespace farvec::fuzz
