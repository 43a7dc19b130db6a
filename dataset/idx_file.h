// IDX, the format of the MNIST family, as it is or in gzip: big-endian sizes, then packed rows.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dataset/vector_file.h"

namespace farvec::dataset {

/// True for names that end in .gz, .idx or -ubyte.
bool is_idx_name(std::string_view path);

/// One row per entry of the first dimension; the others are flattened. u8 and i8 only.
std::unique_ptr<VectorReader> open_idx(const std::string& path);

}  // namespace farvec::dataset
