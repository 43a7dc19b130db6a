// fault_of() checks what a memory node says of a lease, once, when the answer arrives.
#pragma once

#include <string>

#include "rpc/memory_node.pb.h"

namespace farvec::tiers {

/// Returns what is wrong with the lease or the grant, naming field and value, in words that follow
/// "the memory node at ADDRESS: "; empty when both can be used. It does not compare regions with
/// what they should be: the callers know that and do it.
std::string fault_of(const memory_node::v1::AttachResponse& response);

}  // namespace farvec::tiers
