#include "dataset/finite.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace farvec::dataset {

std::size_t keep_finite(const BlockOrigin& origin, std::size_t count, std::byte* rows) {
  const VectorFileInfo& info = origin.info;
  const std::size_t row_bytes = info.row_bytes();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* row = rows + i * row_bytes;
    if (is_finite_row(row, info.type, info.dimension)) {
      if (kept != i) std::memmove(rows + kept * row_bytes, row, row_bytes);
      ++kept;
    } else if (!origin.allow_nonfinite) {
      throw Error(
          "'{}': row {} holds NaN or infinity, which has no distance to anything: repair the file "
          "or drop such rows with --allow-nonfinite",
          info.path, origin.first_row + i);
    }
  }
  return kept;
}

std::size_t block_rows(const VectorFileInfo& info) {
  constexpr std::size_t kBlockBytes = 8u << 20;
  return std::max<std::size_t>(1, kBlockBytes / info.row_bytes());
}

}  // namespace farvec::dataset
