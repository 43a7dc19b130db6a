#include "compute_node/service/sampled_feed.h"

namespace farvec::compute_node {

SampledFeed::~SampledFeed() {
  counters_.reads_in_flight.fetch_sub(last_.in_flight_reads, std::memory_order_relaxed);
}

void SampledFeed::done(search::SearchTask& task) {
  if (++done_ % kSampleEvery == 0) sample();
  // A mapping outlives the node that wrote it; then its bytes are not guaranteed any more.
  if (task.answer.status.ok() && !session_.alive()) {
    task.answer.status = {StatusCode::unavailable, "the memory node was lost during the search"};
  }
  feed_.done(task);
}

void SampledFeed::idle() {
  sample();
  feed_.idle();
}

void SampledFeed::sample() {
  const search::CoreStatistics now = core_.statistics();
  // Relaxed: these are gauges and counters that order nothing. Differences wrap, which is right for
  // unsigned sums.
  counters_.stalls.fetch_add(now.stalls - last_.stalls, std::memory_order_relaxed);
  counters_.reads_in_flight.fetch_add(
      std::uint64_t{now.in_flight_reads} - std::uint64_t{last_.in_flight_reads},
      std::memory_order_relaxed);
  last_ = now;
}

}  // namespace farvec::compute_node
