// Some rows of a file, as options name them.
#pragma once

#include <cstddef>
#include <string>

#include "base/types.h"

namespace farvec::measure {

struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
/// "A:B", ":B", "A:" or "" over `count` rows. Throws Error naming the option when it is empty or
/// out of range.
RowRange parse_range(const std::string& text, std::size_t count, const char* option);
/// "A:B" or ":B", ids below `end`, as --range has them. Throws Error.
RowRange parse_id_range(const std::string& text, std::size_t end);
/// The rows of the range.
VectorView rows_in(const VectorView& rows, const RowRange& range);

}  // namespace farvec::measure
