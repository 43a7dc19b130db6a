#include "measure/sweep/pass_samples.h"

#include <fmt/format.h>

#include <numeric>

#include "measure/report/statistics.h"
#include "measure/report/table.h"

namespace farvec::measure {

void PassSamples::add_pass(search::BatchOutcome outcome) {
  std::vector<float>& latency_us = outcome.latency_us;
  if (latency_us.empty()) return;
  const auto searches = static_cast<double>(latency_us.size());
  qps.push_back(searches / outcome.seconds);
  processor_us.push_back(1e6 * outcome.processor_seconds / searches);
  mean_us.push_back(std::accumulate(latency_us.begin(), latency_us.end(), 0.0) / searches);
  p50_us.push_back(percentile(latency_us, 0.50));
  p99_us.push_back(percentile(latency_us, 0.99));
}

std::vector<std::string> PassSamples::cells() const {
  const Summary rates(qps);
  return {fmt::format("{:.4f}", recall), fmt::format("{:.0f}", rates.median), rates.spread(),
          one_decimal(median(p50_us)), one_decimal(median(p99_us))};
}

void PassSamples::add_to(nlohmann::ordered_json& row) const {
  const Summary rates(qps);
  row["recall"] = recall;
  row["qps"] = rates.median;
  row["qps_min"] = rates.least;
  row["qps_max"] = rates.most;
  row["qps_passes"] = qps;
  row["processor_us"] = median(processor_us);
  row["mean_us"] = median(mean_us);
  row["p50_us"] = median(p50_us);
  row["p99_us"] = median(p99_us);
}

std::string one_decimal(double value) {
  return fmt::format("{:.1f}", value);
}

}  // namespace farvec::measure
