// Reads IDX, the format of the MNIST family, plain or in gzip: big-endian sizes, then packed rows.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Returns true for names that end in .gz, .idx or -ubyte.
bool is_idx_name(std::string_view path);

/// Opens a file with one row per entry of the first dimension; the other dimensions are flattened.
/// u8 and i8 only.
std::unique_ptr<VectorReader> open_idx(const std::string& path);

}  // namespace farvec::dataset
