#include "indexing/code_bits.h"

#include "base/status_error.h"
#include "quantization/neighbor_codes.h"

namespace farvec::indexing {
namespace {

struct CodeBits {
  std::uint32_t usual;
  std::uint32_t most;
};

/// A page that is read costs more than the bits that save it, and a code that is relative to a
/// neighbour needs fewest.
CodeBits allowed(layout::LayoutKind layout) {
  switch (layout) {
    case layout::LayoutKind::slotted:
      return {4, 8};
    case layout::LayoutKind::inlined:
      return {1, quantization::NeighborCodes::kMostBits};
    default:
      return {2, 8};
  }
}

}  // namespace

std::uint32_t code_bits_of(layout::LayoutKind layout, std::optional<std::uint32_t> asked,
                           std::string_view name) {
  const CodeBits range = allowed(layout);
  const std::uint32_t bits = asked.value_or(range.usual);
  if (bits < 1 || bits > range.most) {
    throw StatusError(StatusCode::invalid_argument, "{} {} is out of range: use 1 to {}", name,
                      bits, range.most);
  }
  return bits;
}

}  // namespace farvec::indexing
