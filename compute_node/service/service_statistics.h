// What the query service has done since it started.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "compute_node/service/batch.h"
#include "compute_node/service/latency_histogram.h"

namespace farvec::compute_node {

/// Sums over queries.
struct CountTotals {
  std::uint64_t hops = 0;
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t estimates = 0;
  std::uint64_t distances = 0;
};

struct StatisticsSnapshot {
  std::array<std::uint64_t, 17> queries{};  ///< by status code
  CountTotals totals;
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
