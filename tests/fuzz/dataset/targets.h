// What the targets of this room do with the fuzzer's bytes.
#pragma once

#include <string>

#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"
#include "tests/fuzz/fuzz_file.h"

namespace farvec::fuzz {

/// Opens, reads and checks every row of a file with this suffix.
inline int load_vectors(const char* suffix, const std::uint8_t* data, std::size_t size) {
  static const FuzzFile file(suffix);
  const std::string& path = file.write(data, size);
  expect_error_at_most([&] { (void)dataset::load(path, {.allow_nonfinite = true}); });
  return 0;
}

inline int read_truth(const char* suffix, const std::uint8_t* data, std::size_t size) {
  static const FuzzFile file(suffix);
  const std::string& path = file.write(data, size);
  expect_error_at_most([&] { (void)dataset::read_groundtruth(path); });
  return 0;
}

}  // namespace farvec::fuzz
