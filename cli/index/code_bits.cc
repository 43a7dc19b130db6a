#include "cli/index/code_bits.h"

#include "base/error.h"
#include "quantization/neighbor_codes.h"

namespace farvec::cli {
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

void add_code_bits_option(Command& command, std::optional<std::uint32_t>& code_bits) {
  command.add_option("--code-bits", code_bits,
                     "Bits per dimension of the codes in DRAM, 1 to 8 (slotted: of --payload\n"
                     "vector; with code 1, see --bits; inline: of the neighbours in the records,\n"
                     "1 to 4) [2, slotted 4, inline 1]");
}

std::uint32_t code_bits_of(layout::LayoutKind layout, std::optional<std::uint32_t> asked) {
  const CodeBits range = allowed(layout);
  const std::uint32_t bits = asked.value_or(range.usual);
  if (bits < 1 || bits > range.most) {
    throw Error("--code-bits {} is out of range: use 1 to {}", bits, range.most);
  }
  return bits;
}

}  // namespace farvec::cli
