// From what an attach call answered to endpoints.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "rpc/memory_node.pb.h"
#include "transport/endpoint.h"
#include "transport/grant.h"
#include "transport/tier.h"
#include "transport/verbs/tuning.h"

namespace farvec::tiers {

/// Makes the endpoint of one core. Any thread.
using EndpointMaker = std::function<std::unique_ptr<transport::Endpoint>()>;

/// What to ask a memory node for, to read it as `tier` does.
memory_node::v1::Transport transport_of(transport::TierKind tier);

struct RemoteReads {
  const transport::TierSpec& tier;  ///< is_remote()
  transport::GrantLease lease{};
  std::string node;  ///< for messages
  std::chrono::milliseconds connect_timeout{0};
  transport::VerbsTuning tuning;  ///< of verbs
  std::uint32_t cores = 1;        ///< that share the device's budget of reads
};

/// What one of `cores` may have outstanding. Throws Error when it is less than one read.
std::uint32_t reads_per_core(std::uint32_t budget, std::uint32_t cores);

/// The maker connects on each call, and throws UnreachableError when it cannot. Throws Error now
/// when the answer holds no grant for the tier.
EndpointMaker remote_endpoints(const memory_node::v1::AttachResponse& response,
                               const RemoteReads& reads);

}  // namespace farvec::tiers
