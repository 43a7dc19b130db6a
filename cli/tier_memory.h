// Where a tier's bytes are: memory of this process, or a memory node.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tiers/attach/node_set.h"
#include "rpc/tls.h"
#include "transport/mapped/mapped_endpoint.h"
#include "transport/tier.h"

namespace farvec::cli {

/// With the one region 0.
std::shared_ptr<const transport::RegionSet> region_set(transport::MappedRegion region);

/// Region 0 in a memfd: `fill` writes it, then it is mapped read-only. Throws SystemError.
std::shared_ptr<const transport::RegionSet> make_shared_memory(
    std::uint64_t bytes, const std::function<void(std::span<std::byte>)>& fill);

/// How a tool comes to memory nodes, for tiers that need them.
struct RemoteAccess {
  rpc::TlsFiles tls;
  std::uint32_t cores = 1;  ///< that will read at once
};

/// What a tool asks of the memory nodes. Throws Error when the tier names none.
tiers::NodeSetOptions node_set_options(const transport::TierSpec& tier,
                                              const RemoteAccess& access);

}  // namespace farvec::cli
