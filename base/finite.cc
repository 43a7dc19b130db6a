#include "base/finite.h"

#include "base/memory.h"

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

}  // namespace farvec
