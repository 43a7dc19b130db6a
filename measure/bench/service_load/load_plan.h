// Defines what a load asks a compute node, and for how long.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/progress.h"
#include "client/remote_node.h"
#include "dataset/vector_set.h"

namespace farvec::measure {

/// Makes requests of one query each, in the order of a file, again and again.
class QueryRing {
 public:
  QueryRing(dataset::VectorSet queries, const search::AskedSearch& parameters)
      : queries_(std::move(queries)),
        empty_(client::request_template(parameters, queries_.type(), queries_.dimension())) {}

  compute_node::v1::SearchRequest request(std::uint64_t number) const {
    compute_node::v1::SearchRequest made = empty_;
    const VectorView rows = queries_.view();
    made.add_queries(rows.row(number % rows.count), rows.row_bytes());
    return made;
  }

 private:
  const dataset::VectorSet queries_;
  const compute_node::v1::SearchRequest empty_;
};

struct LoadPlan {
  double seconds = 5;
  std::chrono::milliseconds deadline{1'000};  ///< deadline of each query, from when it was to be
                                              ///< sent
  std::uint64_t seed = 1;                     ///< seed of the arrivals
  std::uint32_t max_inflight = 4'096;         ///< most queries in flight of an open loop
  Interruption interrupted = {};              ///< ends it early; what was measured is kept
};

}  // namespace farvec::measure
