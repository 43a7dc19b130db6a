// Parses and makes the text header of numpy's .npy files, versions 1 to 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/input_file.h"
#include "base/types.h"

namespace farvec::dataset {

struct NpyShape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  ElementType type = ElementType::f32;
};

/// The Python dictionary after the magic, and where the first element is.
struct NpyText {
  std::string dictionary;
  std::uint64_t end = 0;  ///< bytes from the beginning of the file
};
/// Throws Error naming the file: it does not begin as an .npy file, or is truncated.
NpyText read_npy_text(const InputFile& file);

/// Parses the dictionary. Throws Error naming `path` unless it is a
/// two-dimensional C-order array of little-endian f4, f2, u1 or i1.
NpyShape parse_npy_dictionary(std::string_view text, const std::string& path);

/// An array of one dimension.
struct NpyVector {
  std::uint64_t rows = 0;
  std::string type;  ///< numpy's word for it, as "<i8"; of a structured array the list's beginning
};

/// Parses the same dictionary. Throws Error naming `path` unless it is a one-dimensional C-order
/// array, whatever its elements.
NpyVector parse_npy_vector(std::string_view text, const std::string& path);

/// Makes magic, version 1.0 and dictionary, always kNpyHeaderBytes long whatever the number of
/// rows.
inline constexpr std::size_t kNpyHeaderBytes = 128;
std::string make_npy_header(const NpyShape& shape);

}  // namespace farvec::dataset
