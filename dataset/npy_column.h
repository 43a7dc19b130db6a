// An NpyColumn reads numbers, truth values and times from numpy's .npy: one-dimensional, C order,
// little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/input_file.h"

namespace farvec::dataset {

enum class NpyKind { boolean, unsigned_integer, signed_integer, floating, time };

struct NpyElement {
  NpyKind kind = NpyKind::floating;
  std::size_t bytes = 0;  ///< 1, 2, 4 or 8
  std::string unit = {};  ///< for times, as numpy has it: "D", "h", "m", "s", "ms", "us" or "ns"
};

class NpyColumn {
 public:
  /// Throws what InputFile throws, and Error naming the file: it is no such file, has other
  /// elements, an object array or a structured one included, or more or fewer bytes than its header
  /// says.
  explicit NpyColumn(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const NpyElement& element() const { return element_; }
  std::uint64_t rows() const { return rows_; }
  /// Reads `count` elements from row `first` on into `out`. Throws Error when the file ends before.
  void read(std::uint64_t first, std::size_t count, std::byte* out) const;

 private:
  const InputFile file_;
  NpyElement element_;
  std::uint64_t rows_ = 0;
  std::uint64_t offset_ = 0;  ///< where row 0 is
};

}  // namespace farvec::dataset
