// Fetches a whole region through an endpoint, for what a compute node keeps in its own DRAM.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/memory.h"
#include "layout/index/manifest.h"
#include "transport/endpoint.h"

namespace farvec::search {

/// Says when a fetch ends before it has finished.
struct FetchBound {
  Ticks deadline = 0;
  const std::atomic<bool>* stop = nullptr;  ///< ends it soon after it becomes true; may be null
  /// Called with the number of bytes that have come; may be empty. What it throws ends the fetch.
  std::function<void(std::uint64_t bytes)> on_bytes = {};
};

/// Reads region `region`, header included, and checks every chunk against the manifest. It spins on
/// the endpoint, so it is for set-up only. Throws UnreachableError when no node can deliver a piece
/// now, Error when a read fails otherwise, the region is shorter than the manifest says, a checksum
/// does not match, or the bound is reached; the endpoint is closed then, because reads may be in
/// flight.
HugeBuffer fetch_region(const layout::Manifest& manifest, std::uint32_t region,
                        transport::Endpoint& endpoint, const FetchBound& bound);

/// Reads the first `bytes` bytes of a region that no manifest describes, without checking them
/// against anything.
HugeBuffer fetch_bytes(std::uint32_t region, std::uint64_t bytes, transport::Endpoint& endpoint,
                       const FetchBound& bound);

}  // namespace farvec::search
