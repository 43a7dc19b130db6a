#include "compute_node/service/recall_statistics.h"

namespace farvec::compute_node {

std::string_view to_string(RecallPlan plan) {
  constexpr std::string_view kNames[kRecallPlans] = {"walk", "scan", "both", "clusters", "fresh"};
  return kNames[static_cast<std::size_t>(plan)];
}

std::string_view to_string(RecallFilter filter) {
  constexpr std::string_view kNames[kRecallFilters] = {"none", "0.1", "0.01", "0.001", "0"};
  return kNames[static_cast<std::size_t>(filter)];
}

RecallPlan plan_of(const search::QueryCounts& counts) {
  if (counts.clusters > 0) return RecallPlan::clusters;
  if (counts.walks > 0) return counts.scans > 0 ? RecallPlan::both : RecallPlan::walk;
  return counts.scans > 0 ? RecallPlan::scan : RecallPlan::fresh;
}

RecallFilter filter_of(std::uint64_t matches, std::uint64_t rows) {
  const auto at_least = [&](std::uint64_t part) { return matches >= rows / part; };
  if (at_least(10)) return RecallFilter::tenth;
  if (at_least(100)) return RecallFilter::hundredth;
  return at_least(1000) ? RecallFilter::thousandth : RecallFilter::fewer;
}

std::uint64_t RecallSnapshot::samples() const {
  std::uint64_t sum = 0;
  for_each([&](RecallPlan, RecallFilter, const RecallCell& cell) { sum += cell.samples; });
  return sum;
}

double RecallSnapshot::recall() const {
  if (recent.wanted == 0) return 1;
  return static_cast<double>(recent.found) / static_cast<double>(recent.wanted);
}

void RecallStatistics::add(RecallPlan plan, RecallFilter filter, std::uint32_t wanted,
                           std::uint32_t found) {
  const RecallCell one{1, wanted, found};
  const auto count = [](RecallCell& sum, const RecallCell& part) {
    sum.samples += part.samples;
    sum.wanted += part.wanted;
    sum.found += part.found;
  };
  const std::lock_guard lock(mutex_);
  count(now_.cells[static_cast<std::size_t>(plan)][static_cast<std::size_t>(filter)], one);
  last_.push_back(one);
  if (last_.size() > kRecent) last_.pop_front();
  now_.recent = {};
  for (const RecallCell& cell : last_) count(now_.recent, cell);
}

void RecallStatistics::skip() {
  const std::lock_guard lock(mutex_);
  ++now_.skipped;
}

RecallSnapshot RecallStatistics::snapshot() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

}  // namespace farvec::compute_node
