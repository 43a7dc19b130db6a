// Parses and makes the text header of numpy's .npy files, versions 1 to 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.h"

namespace farvec::dataset {

struct NpyShape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  ElementType type = ElementType::f32;
};

/// Parses the Python dictionary after the magic. Throws Error naming `path` unless it is a
/// two-dimensional C-order array of little-endian f4, f2, u1 or i1.
NpyShape parse_npy_dictionary(std::string_view text, const std::string& path);

/// Makes magic, version 1.0 and dictionary, always kNpyHeaderBytes long whatever the number of
/// rows.
inline constexpr std::size_t kNpyHeaderBytes = 128;
std::string make_npy_header(const NpyShape& shape);

}  // namespace farvec::dataset
