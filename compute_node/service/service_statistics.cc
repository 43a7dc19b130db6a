#include "compute_node/service/service_statistics.h"

namespace farvec::compute_node {

const char* to_string(Refusal refusal) {
  if (refusal == Refusal::none) return "";
  return refusal == Refusal::queue_full ? "queue_full" : "too_late";
}

void ServiceStatistics::record(Batch& batch) {
  const std::lock_guard lock(mutex_);
  for (const QueuedTask& task : batch.tasks()) {
    ++now_.queries[static_cast<std::size_t>(task.answer.status.code())];
    now_.totals += task.answer.counts;
    now_.expired_waiting += task.expired_waiting ? 1 : 0;
    if (!task.answer.status.ok()) continue;
    now_.latency.add(task.clock.finished - batch.admitted);
    if (task.answer.coverage < 1) ++now_.partial;
  }
}

void ServiceStatistics::refuse(StatusCode code, Refusal reason, std::uint64_t queries) {
  const std::lock_guard lock(mutex_);
  now_.queries[static_cast<std::size_t>(code)] += queries;
  if (reason == Refusal::queue_full) now_.queue_full += queries;
  if (reason == Refusal::too_late) now_.too_late += queries;
}

StatisticsSnapshot ServiceStatistics::snapshot() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

}  // namespace farvec::compute_node
