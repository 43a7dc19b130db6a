// What the query service has done since it started.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "base/latency_histogram.h"
#include "compute_node/service/batch.h"

namespace farvec::compute_node {

struct StatisticsSnapshot {
  std::array<std::uint64_t, 17> queries{};  ///< by status code
  QueryCounts totals;                       ///< summed over queries
  std::uint64_t partial = 0;                ///< ended well with a coverage below 1
  LatencyHistogram latency;  ///< from admission to result, of queries that ended well

  std::uint64_t with(StatusCode code) const { return queries[static_cast<std::size_t>(code)]; }
};

/// Thread-safe. Cores never come here: the replier records a batch after its last query.
class ServiceStatistics {
 public:
  void record(Batch& batch);
  /// `queries` refused at the door with `code`.
  void refuse(StatusCode code, std::uint64_t queries);
  StatisticsSnapshot snapshot() const;

 private:
  mutable std::mutex mutex_;
  StatisticsSnapshot now_;
};

}  // namespace farvec::compute_node
