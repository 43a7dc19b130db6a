// Reads and writes files of the big-ann-benchmarks kind: u32 rows, u32 dimension, then packed rows.
// Rows of bits begin at whole bytes, and the dimension counts bits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dataset/vector_file.h"

namespace farvec::dataset {

inline constexpr std::size_t kBinHeaderBytes = 8;

/// Returns the element type of .fbin, .f16bin, .u8bin, .i8bin and .b1bin; nothing for another
/// suffix.
std::optional<ElementType> bin_type(std::string_view suffix);

std::unique_ptr<VectorReader> open_bin(const std::string& path, ElementType type);
std::unique_ptr<VectorWriter> create_bin(const std::string& path, const VectorShape& shape);

}  // namespace farvec::dataset
