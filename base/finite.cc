#include "base/finite.h"

#include "base/memory.h"
#include "base/stored_form.h"

namespace farvec {
namespace {

// A float is finite unless all bits of its exponent are set; as integers the loop vectorises.
template <typename Bits, Bits kExponent>
bool exponents_are_finite(const std::byte* row, std::uint32_t dimension) {
  Bits bad = 0;
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const auto bits = load_unaligned<Bits>(row + i * sizeof(Bits));
    bad = static_cast<Bits>(bad | Bits{(bits & kExponent) == kExponent});
  }
  return bad == 0;
}

/// Computed in double, which holds the squares of all floats.
double squared_length(const std::byte* row, std::uint32_t dimension) {
  double sum = 0;
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const double value = load_unaligned<float>(row + i * sizeof(float));
    sum += value * value;
  }
  return sum;
}

/// Kernels count all bits of the last byte, so those after the last element must be 0.
RowFault fault_of_bits(const std::byte* row, std::uint32_t dimension) {
  if (dimension % 8 == 0) return RowFault::none;
  const auto last = std::to_integer<unsigned>(row[dimension / 8]);
  return last >> (dimension % 8) == 0 ? RowFault::none : RowFault::bits_beyond;
}

}  // namespace

bool is_finite_row(const std::byte* row, ElementType type, std::uint32_t dimension) {
  switch (type) {
    case ElementType::f32:
      return exponents_are_finite<std::uint32_t, 0x7f800000u>(row, dimension);
    case ElementType::f16:
      return exponents_are_finite<std::uint16_t, 0x7c00u>(row, dimension);
    default:
      return true;
  }
}

RowFault fault_of_row(const std::byte* row, ElementType type, std::uint32_t dimension) {
  if (!is_finite_row(row, type, dimension)) return RowFault::not_finite;
  if (type == ElementType::b1) return fault_of_bits(row, dimension);
  // Values of other types are never large enough.
  if (type != ElementType::f32) return RowFault::none;
  return squared_length(row, dimension) > kMostSquaredLength ? RowFault::too_long : RowFault::none;
}

RowFault fault_of_row(const std::byte* row, ElementType type, std::uint32_t dimension,
                      std::optional<Metric> metric) {
  if (type == ElementType::b1) return fault_of_bits(row, dimension);
  if (metric && !stores_unit_vectors(*metric)) return fault_of_row(row, type, dimension);
  return is_finite_row(row, type, dimension) ? RowFault::none : RowFault::not_finite;
}

std::string_view to_string(RowFault fault) {
  switch (fault) {
    case RowFault::not_finite:
      return "holds NaN or infinity, which has no distance to anything";
    case RowFault::too_long:
      return "is too long: its squared length exceeds 4.2e37, and distances to it would exceed the "
             "largest float; scale the data by one factor";
    case RowFault::bits_beyond:
      return "has bits set after its last element: those of its last byte must be 0";
    default:
      return "";
  }
}

}  // namespace farvec
