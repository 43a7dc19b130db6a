// Shows a load: as a row of a table, as a line of JSON.
#pragma once

#include <string>
#include <vector>

#include "measure/bench/service_load/load_plan.h"
#include "measure/bench/service_load/outcome.h"

namespace farvec::measure {

/// Describes one load that was offered.
struct LoadPoint {
  double rate = 0;            ///< queries a second of an open loop; 0: a closed one
  std::uint32_t clients = 0;  ///< clients of a closed loop
};

/// Holds what all loads of one run have in common.
struct LoadFacts {
  std::string host;
  std::string address;
  std::string queries;
  search::AskedSearch parameters;
  LoadPlan plan;
};

void print_load_header();
void print_load_row(const LoadPoint& point, const LoadCounts& counts);
std::string load_json(const LoadFacts& facts, const LoadPoint& point, const LoadCounts& counts);

}  // namespace farvec::measure
