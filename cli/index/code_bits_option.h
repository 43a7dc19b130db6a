// The option --code-bits.
#pragma once

#include <cstdint>
#include <optional>

#include "base/command_line.h"

namespace farvec::cli {

inline constexpr const char* kCodeBitsOption = "--code-bits";

/// What indexing::code_bits_of() takes.
void add_code_bits_option(Command& command, std::optional<std::uint32_t>& code_bits);

}  // namespace farvec::cli
