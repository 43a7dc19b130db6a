// Runs loads of a compute node, one after the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/remote_node.h"
#include "measure/bench/service_load/load_plan.h"
#include "measure/bench/service_load/report.h"
#include "measure/report/measurement.h"

namespace farvec::measure {

struct LoadRun {
  client::NodeAccess node;
  std::string queries;  ///< file
  search::AskedSearch parameters;
  LoadPlan plan;
  std::vector<LoadPoint> points;
  bool quiet = false;
};

class Loads {
 public:
  /// Reads the queries and connects. Throws Error.
  explicit Loads(LoadRun run);

  /// Measures, prints, and writes the lines; when it is interrupted, those of what it has measured.
  /// Throws Error.
  void run(JsonLines& json);

 private:
  const LoadRun run_;
  const QueryRing queries_;
  const std::unique_ptr<compute_node::v1::ComputeNode::Stub> stub_;
};

}  // namespace farvec::measure
