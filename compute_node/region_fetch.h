// A whole region through an endpoint, for what a compute node keeps in its own DRAM.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/memory.h"
#include "layout/manifest.h"
#include "transport/endpoint.h"

namespace farvec::compute_node {

/// Reads region `region`, header included, and checks every chunk against the manifest. Spins on
/// the endpoint: for set-up only. Throws Error when a read fails, the region is shorter than the
/// manifest says, a checksum does not match, or the deadline passes; the endpoint is closed then,
/// because reads may be in flight.
HugeBuffer fetch_region(const layout::Manifest& manifest, std::uint32_t region,
                        transport::Endpoint& endpoint, Ticks deadline);

}  // namespace farvec::compute_node
