// Copies rows from one file to another in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dataset/row_selection.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Converts one row of the source's type to the output's.
using RowConverter = std::function<void(const std::byte* in, std::byte* out)>;

struct CopyOptions {
  std::vector<RowRange> ranges;    ///< in the order of the output; empty means every row
  ElementType type;                ///< element type of the output
  RowConverter convert = nullptr;  ///< needed when `type` differs from the source's
  bool allow_nonfinite = false;    ///< drop rows with NaN or infinity instead of stopping
  bool quiet = false;              ///< no progress line
};

struct CopyResult {
  std::uint64_t rows = 0;
  std::uint64_t dropped = 0;
};

/// Writes the chosen rows of `reader` to `path` (see create_vectors()). Keeps a few blocks of 8 MiB
/// in memory, whatever the size of the files. On any error the output is removed.
CopyResult copy_rows(VectorReader& reader, const std::string& path, const CopyOptions& options);

}  // namespace farvec::dataset
