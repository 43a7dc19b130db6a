// Bounds of the searches of graphs.
#pragma once

#include <cstdint>

namespace farvec::graph {

/// Records that one hop of a search may fetch.
inline constexpr std::uint32_t kMaxWidth = 64;

}  // namespace farvec::graph
