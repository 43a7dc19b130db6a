#include "dataset/finite.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace farvec::dataset {

namespace {

RowFault fault_of(const BlockOrigin& origin, const std::byte* row) {
  const VectorFileInfo& info = origin.info;
  return fault_of_row(row, info.type, info.dimension, origin.metric);
}

[[noreturn]] void refuse(const BlockOrigin& origin, std::size_t row, RowFault fault) {
  if (fault == RowFault::too_long) {
    throw Error(
        "'{}': row {} {}, or leave such rows out (--allow-nonfinite, where builds and "
        "conversions have it)",
        origin.info.path, origin.first_row + row, to_string(fault));
  }
  if (fault == RowFault::bits_beyond) {
    throw Error("'{}': row {} {}; is {} the dimension, and the order of bits the right one?",
                origin.info.path, origin.first_row + row, to_string(fault), origin.info.dimension);
  }
  throw Error(
      "'{}': row {} holds NaN or infinity, which has no distance to anything: repair the file "
      "or leave such rows out (--allow-nonfinite, where builds and conversions have it)",
      origin.info.path, origin.first_row + row);
}

}  // namespace

std::size_t keep_finite(const BlockOrigin& origin, std::size_t count, std::byte* rows) {
  const std::size_t row_bytes = origin.info.row_bytes();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* row = rows + i * row_bytes;
    if (const RowFault fault = fault_of(origin, row); fault != RowFault::none) {
      // Bits where none should be say that the whole file was misread.
      const bool spoils_all = fault == RowFault::bits_beyond;
      if (!origin.allow_nonfinite || spoils_all) refuse(origin, i, fault);
      continue;
    }
    if (kept != i) std::memmove(rows + kept * row_bytes, row, row_bytes);
    ++kept;
  }
  return kept;
}

std::size_t block_rows(const VectorFileInfo& info) {
  constexpr std::size_t kBlockBytes = 8u << 20;
  return std::max<std::size_t>(1, kBlockBytes / info.row_bytes());
}

}  // namespace farvec::dataset
