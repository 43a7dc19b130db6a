#include "indexing/code_bits.h"

#include "base/status_error.h"
#include "indexing/cluster_recipe.h"
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

std::uint32_t within(CodeBits range, std::optional<std::uint32_t> asked, std::string_view name) {
  const std::uint32_t bits = asked.value_or(range.usual);
  if (bits < 1 || bits > range.most) {
    throw StatusError(StatusCode::invalid_argument, "{} {} is out of range: use 1 to {}", name,
                      bits, range.most);
  }
  return bits;
}

}  // namespace

std::uint32_t code_bits_of(layout::LayoutKind layout, std::optional<std::uint32_t> asked,
                           std::string_view name) {
  return within(allowed(layout), asked, name);
}

std::uint32_t code_bits_of(layout::ClusterLayoutKind layout, std::optional<std::uint32_t> asked,
                           std::string_view name) {
  if (asked && layout != layout::ClusterLayoutKind::coded) {
    throw StatusError(StatusCode::invalid_argument, "{}: layout {} has no codes, coded has", name,
                      to_string(layout));
  }
  return within({kMemberCodeBits, quantization::NeighborCodes::kMostBits}, asked, name);
}

}  // namespace farvec::indexing
