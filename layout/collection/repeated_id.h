// Finds an id that occurs twice where each may occur once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace farvec::layout {

/// Returns one id that occurs twice. Sorts a copy, unless the ids ascend.
std::optional<std::uint64_t> repeated_id(std::span<const std::uint64_t> ids);

}  // namespace farvec::layout
