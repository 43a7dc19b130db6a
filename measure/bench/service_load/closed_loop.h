// Runs clients that each wait for an answer before they ask again.
#pragma once

#include "measure/bench/service_load/load_plan.h"
#include "measure/bench/service_load/outcome.h"

namespace farvec::measure {

/// Runs `clients` clients, each on a thread of its own. A client that was refused waits as long as
/// the node says, at most 100 ms. Ends after the plan's seconds and one deadline, earlier when it
/// is interrupted.
LoadCounts run_closed_loop(compute_node::v1::ComputeNode::Stub& stub, const QueryRing& queries,
                           const LoadPlan& plan, std::uint32_t clients);

}  // namespace farvec::measure
