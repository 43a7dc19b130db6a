// What the listeners of a memory node share: who may read, and what.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace farvec::transport {

using GrantLease = std::array<std::byte, 16>;

/// In the order of region ids. The memory is borrowed.
using GrantedRegions = std::vector<std::span<const std::byte>>;

/// True while the lease is held. Called on any thread of a listener; must not block.
using Authorise = std::function<bool(const GrantLease&)>;

inline constexpr std::size_t kMaxGrantedRegions = 16;

}  // namespace farvec::transport
