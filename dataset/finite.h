// Finds rows in blocks that were read which have no distance to others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/finite.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

using farvec::is_finite_row;

/// Says where a block of rows came from, and what to do with a bad row.
struct BlockOrigin {
  const VectorFileInfo& info;
  std::uint64_t first_row;
  bool allow_nonfinite;
  /// The metric by which the rows are compared: rows that are too long for it are bad as well.
  std::optional<Metric> metric = std::nullopt;
};

/// Moves the good ones of `count` packed rows to the front, in order, and returns how many there
/// are. Throws Error with the row's number for a bad row that is not allowed; bits after the last
/// element never are.
std::size_t keep_finite(const BlockOrigin& origin, std::size_t count, std::byte* rows);

/// Returns the number of rows to read at a time: about 8 MiB, at least one row.
std::size_t block_rows(const VectorFileInfo& info);

}  // namespace farvec::dataset
