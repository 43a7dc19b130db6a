// What a memory node says of a lease, checked once, when it arrives.
#pragma once

#include <string>

#include "rpc/memory_node.pb.h"

namespace farvec::tiers {

/// What is wrong with the lease or the grant, naming field and value, in words that follow "the
/// memory node at ADDRESS: "; empty when both can be used. Regions are compared with what they
/// should be by whoever knows that.
std::string fault_of(const memory_node::v1::AttachResponse& response);

}  // namespace farvec::tiers
