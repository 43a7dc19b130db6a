// Whether an id stands twice where each may stand once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace farvec::layout {

/// One that does. Sorts a copy, unless the ids ascend.
std::optional<std::uint64_t> repeated_id(std::span<const std::uint64_t> ids);

}  // namespace farvec::layout
