// Sends queries at their own times, whether the node keeps up or not.
#pragma once

#include "measure/bench/service_load/load_plan.h"
#include "measure/bench/service_load/outcome.h"

namespace farvec::measure {

/// Offers `rate` queries a second as a Poisson process, which does not wait for answers. A latency
/// begins when the query was to be sent, so that a client or node that lags shows (no coordinated
/// omission). A query is counted as unsent when max_inflight of the plan are in flight or its
/// deadline has passed. Ends after the plan's seconds and one deadline, earlier when it is
/// interrupted.
LoadCounts run_open_loop(compute_node::v1::ComputeNode::Stub& stub, const QueryRing& queries,
                         const LoadPlan& plan, double rate);

}  // namespace farvec::measure
