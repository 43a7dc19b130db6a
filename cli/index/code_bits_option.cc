#include "cli/index/code_bits_option.h"

#include <fmt/format.h>

#include "indexing/steering_words.h"

namespace farvec::cli {

void add_code_bits_option(Command& command, std::optional<std::uint32_t>& code_bits) {
  command.add_option(kCodeBitsOption, code_bits,
                     "Bits per dimension of the codes in DRAM, 1 to 8, or 0: no codes, but the\n"
                     "vectors themselves (slotted: of --payload vector; with code 1, see --bits;\n"
                     "inline: of the neighbours in the records, 1 to 4) [2, slotted 4, inline 1;\n"
                     "more where trial searches show that the data needs more]");
}

void tell_steering(const layout::Manifest& manifest) {
  const std::string words = indexing::steering_words(manifest, kCodeBitsOption);
  if (words.empty()) return;
  const bool loses = indexing::loses_by_codes(*indexing::steering_of(manifest));
  fmt::print(stderr, "{}{}\n", loses ? "warning: " : "", words);
}

}  // namespace farvec::cli
