#include "indexing/code_bits.h"

#include "base/status_error.h"
#include "indexing/cluster_recipe.h"
#include "quantization/neighbor_codes.h"

namespace farvec::indexing {
namespace {

struct CodeBits {
  std::uint32_t usual;
  std::uint32_t least;
  std::uint32_t most;
};

/// A page that is read costs more than the bits that save it. A code that is relative to a
/// neighbour needs the fewest bits.
CodeBits allowed(layout::LayoutKind layout) {
  switch (layout) {
    case layout::LayoutKind::slotted:
      return {4, quantization::kWholeVectors, 8};
    case layout::LayoutKind::inlined:
      return {1, 1, quantization::NeighborCodes::kMostBits};
    default:
      return {2, quantization::kWholeVectors, 8};
  }
}

void check_within(CodeBits range, std::optional<std::uint32_t> asked, std::string_view name) {
  const std::uint32_t bits = asked.value_or(range.usual);
  if (bits >= range.least && bits <= range.most) return;
  throw StatusError(StatusCode::invalid_argument, "{} {} is out of range: use {}1 to {}", name,
                    bits, range.least == quantization::kWholeVectors ? "0 (no codes) or " : "",
                    range.most);
}

}  // namespace

std::uint32_t usual_code_bits(layout::LayoutKind layout) {
  return allowed(layout).usual;
}

std::optional<std::uint32_t> code_bits_of(layout::LayoutKind layout,
                                          std::optional<std::uint32_t> asked,
                                          std::string_view name) {
  check_within(allowed(layout), asked, name);
  return asked;
}

std::optional<std::uint32_t> code_bits_of(layout::ClusterLayoutKind layout,
                                          std::optional<std::uint32_t> asked,
                                          std::string_view name) {
  if (asked && layout != layout::ClusterLayoutKind::coded) {
    throw StatusError(StatusCode::invalid_argument, "{}: layout {} has no codes, coded has", name,
                      to_string(layout));
  }
  check_within({kMemberCodeBits, 1, quantization::NeighborCodes::kMostBits}, asked, name);
  return asked;
}

void require_codes_fit(ElementType type, layout::LayoutKind layout,
                       std::optional<std::uint32_t> asked, std::string_view name) {
  if (type != ElementType::b1) return;
  if (layout == layout::LayoutKind::inlined) {
    throw StatusError(StatusCode::invalid_argument,
                      "layout {} has codes in its records, and vectors of bits (b1) have none: use "
                      "csr, packed or slotted",
                      to_string(layout));
  }
  if (asked.value_or(quantization::kWholeVectors) == quantization::kWholeVectors) return;
  throw StatusError(StatusCode::invalid_argument,
                    "{} {}: vectors of bits (b1) need no codes, since searches compare the vectors "
                    "themselves; use 0 or leave it out",
                    name, *asked);
}

void require_codes_fit(ElementType type, layout::ClusterLayoutKind layout) {
  if (type != ElementType::b1 || layout != layout::ClusterLayoutKind::coded) return;
  throw StatusError(StatusCode::invalid_argument,
                    "layout {} has codes of its members, and vectors of bits (b1) have none: use "
                    "coupled, decoupled, grouped or grouped-inline",
                    to_string(layout));
}

}  // namespace farvec::indexing
