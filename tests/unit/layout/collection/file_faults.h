// What a collection's files must stand: bytes that are missing, too many or others.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "base/error.h"

namespace farvec::layout {

inline std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void replace_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// `read` throws Error with the file's name for every other length and every flipped bit.
inline void expect_faults_refused(const std::filesystem::path& path,
                                  const std::function<void()>& read) {
  const std::string whole = file_bytes(path);
  ASSERT_NO_THROW(read());
  const auto expect_refused = [&](const std::string& bytes, std::size_t where) {
    replace_bytes(path, bytes);
    try {
      read();
      ADD_FAILURE() << "a fault at " << where << " was not found";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path.filename().string()), std::string::npos)
          << error.what();
    }
  };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused(whole.substr(0, size), size);
  }
  expect_refused(whole + '\0', whole.size());
  expect_refused(whole + whole, whole.size());
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    expect_refused(bytes, bit / 8);
  }
  replace_bytes(path, whole);
  EXPECT_NO_THROW(read());
}

}  // namespace farvec::layout
