// Queries that come when they come, however the node does.
#pragma once

#include "cli/bench/service_load/load_plan.h"
#include "cli/bench/service_load/outcome.h"

namespace farvec::cli {

/// Offers `rate` queries a second as a Poisson process, which does not wait for answers. A latency
/// begins when the query was to be sent, so that a client or node that lags shows (no coordinated
/// omission). What cannot be sent, because as many are in flight as the plan allows or its deadline
/// has passed, is counted as unsent. Ends after the plan's seconds and one deadline, earlier when
/// an InterruptGuard says so.
LoadCounts run_open_loop(compute_node::v1::ComputeNode::Stub& stub, const QueryRing& queries,
                         const LoadPlan& plan, double rate);

}  // namespace farvec::cli
