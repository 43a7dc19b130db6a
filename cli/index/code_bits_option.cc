#include "cli/index/code_bits_option.h"

namespace farvec::cli {

void add_code_bits_option(Command& command, std::optional<std::uint32_t>& code_bits) {
  command.add_option(kCodeBitsOption, code_bits,
                     "Bits per dimension of the codes in DRAM, 1 to 8 (slotted: of --payload\n"
                     "vector; with code 1, see --bits; inline: of the neighbours in the records,\n"
                     "1 to 4) [2, slotted 4, inline 1]");
}

}  // namespace farvec::cli
