// Declares the option --code-bits.
#pragma once

#include <cstdint>
#include <optional>

#include "base/command_line.h"
#include "layout/index/manifest.h"

namespace farvec::cli {

inline constexpr const char* kCodeBitsOption = "--code-bits";

/// Adds the option, whose value goes to indexing::code_bits_of().
void add_code_bits_option(Command& command, std::optional<std::uint32_t>& code_bits);

/// Says on stderr why the index has the codes that it has, where the usual ones do not serve. It is
/// a warning where searches find less by the codes than by the vectors.
void tell_steering(const layout::Manifest& manifest);

}  // namespace farvec::cli
