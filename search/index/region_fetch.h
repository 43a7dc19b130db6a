// A whole region through an endpoint, for what a compute node keeps in its own DRAM.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/memory.h"
#include "layout/index/manifest.h"
#include "transport/endpoint.h"

namespace farvec::search {

/// When a fetch ends without having finished.
struct FetchBound {
  Ticks deadline = 0;
  const std::atomic<bool>* stop = nullptr;  ///< ends it soon after it becomes true; may be null
  /// Told of bytes that have come; may be empty. What it throws ends the fetch.
  std::function<void(std::uint64_t bytes)> on_bytes = {};
};

/// Reads region `region`, header included, and checks every chunk against the manifest. Spins on
/// the endpoint: for set-up only. Throws UnreachableError
/// when nobody can deliver a piece now, Error when a read fails otherwise, the region is shorter
/// than the manifest says, a checksum does not match, or the bound is reached; the endpoint is
/// closed then, because reads may be in flight.
HugeBuffer fetch_region(const layout::Manifest& manifest, std::uint32_t region,
                        transport::Endpoint& endpoint, const FetchBound& bound);

/// The same of the first `bytes` of a region that no manifest tells of, which nothing is compared
/// with.
HugeBuffer fetch_bytes(std::uint32_t region, std::uint64_t bytes, transport::Endpoint& endpoint,
                       const FetchBound& bound);

}  // namespace farvec::search
