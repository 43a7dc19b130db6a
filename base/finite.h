// These functions find vectors that have no distance to others: an element is NaN or infinite, the
// vector is too long, or its last byte has bits that are no elements.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/types.h"

namespace farvec {

/// Returns true when no element is NaN or infinite; always true for integers and bits. `row` needs
/// no alignment.
bool is_finite_row(const std::byte* row, ElementType type, std::uint32_t dimension);

/// The greatest squared length that a row may have when it is compared. The squared distance of two
/// such rows is at most four times as much, which a float holds with room to spare, and so are
/// their inner product and every partial sum of either.
inline constexpr double kMostSquaredLength = 0x1p125;

/// Says why a row cannot be compared with others.
enum class RowFault : std::uint8_t { none, not_finite, too_long, bits_beyond };

/// Says what is wrong with a row in the form in which it is compared. A unit vector is never
/// too long. `row` needs no alignment.
RowFault fault_of_row(const std::byte* row, ElementType type, std::uint32_t dimension);

/// Judges a row that is not yet in stored form: where unit vectors are stored, it may have any
/// finite length. Without a metric, only what no metric can compare is a fault.
RowFault fault_of_row(const std::byte* row, ElementType type, std::uint32_t dimension,
                      std::optional<Metric> metric);

/// Returns the words that follow "row 5" in a message; empty for RowFault::none.
std::string_view to_string(RowFault fault);

/// Makes a distance sortable: NaN, which has no place in an order, counts as farther than
/// everything.
inline float orderable(float distance) {
  return std::isnan(distance) ? std::numeric_limits<float>::infinity() : distance;
}

}  // namespace farvec
