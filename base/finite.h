// NaN and infinity among the elements of a vector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace farvec {

/// True when no element is NaN or infinite; always true for integers. `row` lies at any address.
bool is_finite_row(const std::byte* row, ElementType type, std::uint32_t dimension);

}  // namespace farvec
