// The option --code-bits: what it means in each layout of a graph.
#pragma once

#include <cstdint>
#include <optional>

#include "base/command_line.h"
#include "layout/graph/graph_layout.h"

namespace farvec::cli {

void add_code_bits_option(Command& command, std::optional<std::uint32_t>& code_bits);

/// The bits per dimension that were asked for, or the layout's own. Throws Error, naming the
/// option, when it cannot have them.
std::uint32_t code_bits_of(layout::LayoutKind layout, std::optional<std::uint32_t> asked);

}  // namespace farvec::cli
