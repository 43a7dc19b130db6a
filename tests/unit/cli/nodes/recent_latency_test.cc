#include "cli/nodes/recent_latency.h"

#include <gtest/gtest.h>

#include <map>

namespace farvec::cli {
namespace {

using compute_node::v1::StatsResponse;

StatsResponse counted(const std::map<double, std::uint64_t>& counts) {
  StatsResponse stats;
  for (const auto& [us, count] : counts) {
    auto& bucket = *stats.add_latencies();
    bucket.set_us(us);
    bucket.set_count(count);
  }
  return stats;
}

TEST(RecentLatency, IsOfTheQueriesBetweenTwoLooks) {
  const StatsResponse before = counted({{10, 1000}, {500, 50}});
  const StatsResponse now = counted({{10, 1001}, {20, 98}, {500, 50}, {900, 1}});
  EXPECT_EQ(latency_between(before, now, 0.99), 20);
  EXPECT_EQ(latency_between(before, now, 1.0), 900);
  EXPECT_EQ(latency_between(before, now, 0.01), 10);
  EXPECT_EQ(latency_between({}, before, 0.5), 10);
}

TEST(RecentLatency, NothingWithoutQueries) {
  const StatsResponse stats = counted({{10, 3}});
  EXPECT_EQ(latency_between(stats, stats, 0.99), std::nullopt);
  EXPECT_EQ(latency_between({}, {}, 0.99), std::nullopt);
}

TEST(RecentLatency, NothingOfANodeThatWasStartedAnew) {
  EXPECT_EQ(latency_between(counted({{10, 3}}), counted({{10, 2}, {30, 9}}), 0.99), std::nullopt);
  EXPECT_EQ(latency_between(counted({{10, 3}}), counted({{30, 9}}), 0.99), std::nullopt);
}

}  // namespace
}  // namespace farvec::cli
