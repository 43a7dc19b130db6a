#include "compute_node/service/service_statistics.h"

namespace farvec::compute_node {

void ServiceStatistics::record(Batch& batch) {
  const std::lock_guard lock(mutex_);
  CountTotals& totals = now_.totals;
  for (const QueuedTask& task : batch.tasks()) {
    ++now_.queries[static_cast<std::size_t>(task.status.code())];
    totals.hops += task.counts.hops;
    totals.reads += task.counts.reads;
    totals.bytes += task.counts.bytes;
    totals.cache_hits += task.counts.cache_hits;
    totals.estimates += task.counts.estimates;
    totals.distances += task.counts.distances;
    if (task.status.ok()) now_.latency.record(ticks_to_us(task.finished - batch.admitted));
  }
}

void ServiceStatistics::refuse(StatusCode code, std::uint64_t queries) {
  const std::lock_guard lock(mutex_);
  now_.queries[static_cast<std::size_t>(code)] += queries;
}

StatisticsSnapshot ServiceStatistics::snapshot() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

}  // namespace farvec::compute_node
