// ServiceStatistics count what the query service has done since it started.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "base/latency_histogram.h"
#include "compute_node/service/batch.h"

namespace farvec::compute_node {

/// Why a query got no slot although nothing was wrong with it.
enum class Refusal : std::uint8_t { none, queue_full, too_late };
/// Returns "queue_full" or "too_late"; empty for none.
const char* to_string(Refusal refusal);

struct StatisticsSnapshot {
  std::array<std::uint64_t, 17> queries{};  ///< one for each status code
  search::QueryCounts totals;               ///< summed over queries
  std::uint64_t queue_full = 0;             ///< part of those with resource_exhausted
  std::uint64_t too_late = 0;               ///< part of those with resource_exhausted
  std::uint64_t expired_waiting =
      0;  ///< part of those with deadline_exceeded: expired before they got a slot
  std::uint64_t partial = 0;  ///< ended well with a coverage below 1
  LatencyHistogram latency;   ///< from admission to result, for queries that ended well

  std::uint64_t with(StatusCode code) const { return queries[static_cast<std::size_t>(code)]; }
};

/// ServiceStatistics are thread-safe. Cores never call them: the replier records a batch after its
/// last query.
class ServiceStatistics {
 public:
  void record(Batch& batch);
  /// Counts `queries` queries that were refused with `code` and not admitted.
  void refuse(StatusCode code, Refusal reason, std::uint64_t queries);
  StatisticsSnapshot snapshot() const;

 private:
  mutable std::mutex mutex_;
  StatisticsSnapshot now_;
};

}  // namespace farvec::compute_node
