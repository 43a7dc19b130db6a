// Hand-made files for the tests of this room.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::dataset {

using tests::message_of;
using tests::TemporaryFolder;

/// Bytes put together from values of any trivially copyable type.
class Bytes {
 public:
  template <typename T>
  Bytes& add(T value) {
    const auto* from = reinterpret_cast<const char*>(&value);
    content_.append(from, sizeof(T));
    return *this;
  }
  template <typename T>
  Bytes& add_all(const std::vector<T>& values) {
    for (const T& value : values) add(value);
    return *this;
  }
  Bytes& add_text(const std::string& text) {
    content_ += text;
    return *this;
  }
  Bytes& cut(std::size_t bytes) {
    content_.resize(content_.size() - bytes);
    return *this;
  }
  std::size_t size() const { return content_.size(); }
  const std::string& write(const std::string& path) const {
    std::ofstream(path, std::ios::binary) << content_;
    return path;
  }

 private:
  std::string content_;
};

}  // namespace farvec::dataset
