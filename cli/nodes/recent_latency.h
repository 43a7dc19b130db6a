// Computes how long the queries took that a node has answered between two looks.
#pragma once

#include <optional>

#include "rpc/compute_node.pb.h"

namespace farvec::cli {

/// Returns, in microseconds, the nearest rank of the latencies that `now` counts beyond `before`.
/// Returns nothing when no query ended well between them, or the node was started anew.
std::optional<double> latency_between(const compute_node::v1::StatsResponse& before,
                                      const compute_node::v1::StatsResponse& now, double share);

}  // namespace farvec::cli
