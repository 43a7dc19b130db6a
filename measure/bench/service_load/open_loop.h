// Queries that come when they come, however the node does.
#pragma once

#include "measure/bench/service_load/load_plan.h"
#include "measure/bench/service_load/outcome.h"

namespace farvec::measure {

/// Offers `rate` queries a second as a Poisson process, which does not wait for answers. A latency
/// begins when the query was to be sent, so that a client or node that lags shows (no coordinated
/// omission). What cannot be sent, because as many are in flight as the plan allows or its deadline
/// has passed, is counted as unsent. Ends after the plan's seconds and one deadline, earlier when
/// it is interrupted.
LoadCounts run_open_loop(compute_node::v1::ComputeNode::Stub& stub, const QueryRing& queries,
                         const LoadPlan& plan, double rate);

}  // namespace farvec::measure
