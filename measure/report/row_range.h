// Reads options that name some rows of a file.
#pragma once

#include <cstddef>
#include <string>

#include "base/types.h"

namespace farvec::measure {

struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
/// Reads "A:B", ":B", "A:" or "" over `count` rows. Throws an Error that names the option when the
/// range is empty or not within the rows.
RowRange parse_range(const std::string& text, std::size_t count, const char* option);
/// Reads "A:B" or ":B", ids below `end`, the form that --range takes. Throws Error.
RowRange parse_id_range(const std::string& text, std::size_t end);
/// Returns the rows of the range.
VectorView rows_in(const VectorView& rows, const RowRange& range);

}  // namespace farvec::measure
