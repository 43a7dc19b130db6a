// What a closed and an open loop have in common.
#pragma once

#include <chrono>

#include "measure/bench/service_load/load_plan.h"
#include "measure/bench/service_load/outcome.h"

namespace farvec::measure {

/// Asks a compute node as planned, and notes what became of it. What it is made of must outlive it.
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
