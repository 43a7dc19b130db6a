#include "compute_node/service/service_statistics.h"

namespace farvec::compute_node {

void ServiceStatistics::record(Batch& batch) {
  const std::lock_guard lock(mutex_);
  for (const QueuedTask& task : batch.tasks()) {
    ++now_.queries[static_cast<std::size_t>(task.status.code())];
    now_.totals += task.counts;
    if (!task.status.ok()) continue;
    now_.latency.add(task.finished - batch.admitted);
    if (task.coverage < 1) ++now_.partial;
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
