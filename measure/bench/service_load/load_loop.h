// Holds what a closed and an open loop have in common.
#pragma once

#include <chrono>

#include "measure/bench/service_load/load_plan.h"
#include "measure/bench/service_load/outcome.h"

namespace farvec::measure {

/// Asks a compute node what the plan says, and notes what became of it. The constructor's arguments
/// must outlive it, except for `plan`, which it copies.
class LoadLoop {
 public:
  using Stub = compute_node::v1::ComputeNode::Stub;

  LoadLoop(Stub& stub, const QueryRing& queries, const LoadPlan& plan)
      : stub_(stub), queries_(queries), plan_(plan), recorder_(plan.deadline) {}

 protected:
  using Clock = std::chrono::steady_clock;

  ~LoadLoop() = default;

  Stub& stub_;
  const QueryRing& queries_;
  const LoadPlan plan_;
  LoadRecorder recorder_;
};

}  // namespace farvec::measure
