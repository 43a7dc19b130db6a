// Finds the first of many rows that has no distance to others.
#pragma once

#include <cstddef>
#include <optional>

#include "base/finite.h"
#include "base/types.h"

namespace farvec {

struct FaultyRow {
  std::size_t row = 0;
  RowFault fault = RowFault::none;
};

/// Judges rows of the source's or of the stored type with fault_of_row().
std::optional<FaultyRow> find_faulty_row(const VectorView& rows, std::optional<Metric> metric);

}  // namespace farvec
