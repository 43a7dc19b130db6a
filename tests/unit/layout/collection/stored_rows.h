// Random rows as a collection stores them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace farvec::layout {

/// Rows of finite values with `gap` bytes behind each.
class StoredRows {
 public:
  StoredRows(std::size_t count, std::uint32_t dimension, ElementType type, std::size_t gap = 0)
      : view_{nullptr, count, dimension, type, dimension * element_bytes(type) + gap},
        bytes_(count * view_.stride_bytes) {
    Random random(count + dimension);
    // No byte has an exponent of ones only.
    for (std::byte& byte : bytes_) byte = static_cast<std::byte>(random.below(120));
    view_.data = bytes_.data();
  }
  StoredRows(const StoredRows&) = delete;
  StoredRows& operator=(const StoredRows&) = delete;

  const VectorView& view() const { return view_; }

 private:
  VectorView view_;
  std::vector<std::byte> bytes_;
};

/// Different ones, in no order, small and large.
inline std::vector<std::uint64_t> random_ids(std::size_t count) {
  std::vector<std::uint64_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = (i + 1) * 0x9e3779b97f4a7c15;  // odd: no two are the same
  }
  if (count > 1) ids[1] = 0;
  return ids;
}

inline std::vector<std::byte> joined(std::span<const std::span<const std::byte>> parts) {
  std::vector<std::byte> bytes;
  for (const auto part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

}  // namespace farvec::layout
