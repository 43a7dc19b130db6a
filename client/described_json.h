// described_json() shows what a compute node says of what it serves.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "rpc/compute_node.pb.h"

namespace farvec::client {

/// Returns what a node at `address` says of itself while it is attached, with the names that farvec
/// uses for an index of this machine. No fault may have been found in it.
nlohmann::ordered_json described_json(const compute_node::v1::DescribeResponse& node,
                                      const std::string& address);

}  // namespace farvec::client
