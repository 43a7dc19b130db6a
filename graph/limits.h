// This file has the bounds of the searches of graphs.
#pragma once

#include <cstdint>

namespace farvec::graph {

/// One hop of a search may fetch this many records.
inline constexpr std::uint32_t kMaxWidth = 64;

}  // namespace farvec::graph
