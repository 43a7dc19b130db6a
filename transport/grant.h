// Defines what the listeners of a memory node share: which leases may read and write, and what.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace farvec::transport {

using GrantLease = std::array<std::byte, 16>;

/// GrantedRegions are the regions in the order of their ids. The memory is borrowed.
using GrantedRegions = std::vector<std::span<const std::byte>>;

/// It is true while the lease is held. It is called on any thread of a listener, and must not
/// block.
using Authorise = std::function<bool(const GrantLease&)>;

/// WritableRegions are what the holder of a lease for writing may fill. Without regions there are
/// no writers.
struct WritableRegions {
  std::vector<std::span<std::byte>> regions;  ///< numbered in their own order; borrowed
  /// True for leases for writing. It must not be true for a lease for reading.
  Authorise authorise;
};

inline constexpr std::size_t kMaxGrantedRegions = 16;

}  // namespace farvec::transport
