#include "cli/nodes/recent_latency.h"

#include <cmath>
#include <cstdint>
#include <map>

namespace farvec::cli {

std::optional<double> latency_between(const compute_node::v1::StatsResponse& before,
                                      const compute_node::v1::StatsResponse& now, double share) {
  std::map<double, std::uint64_t> grown;
  for (const auto& bucket : now.latencies()) {
    if (std::isnan(bucket.us())) return std::nullopt;  // values without an order have no ranks
    grown[bucket.us()] += bucket.count();
  }
  for (const auto& bucket : before.latencies()) {
    const auto found = grown.find(bucket.us());
    if (found == grown.end() || found->second < bucket.count()) return std::nullopt;
    found->second -= bucket.count();
  }
  std::uint64_t all = 0;
  for (const auto& [us, count] : grown) all += count;
  const double wanted = std::ceil(share * static_cast<double>(all));
  std::uint64_t seen = 0;
  for (const auto& [us, count] : grown) {
    seen += count;
    if (count > 0 && static_cast<double>(seen) >= wanted) return us;
  }
  return std::nullopt;
}

}  // namespace farvec::cli
