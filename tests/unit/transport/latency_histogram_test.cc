#include "transport/load/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace farvec::transport {
namespace {

TEST(LatencyHistogram, OfNothingIsZero) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.percentile(0.5), 0);
}

TEST(LatencyHistogram, HoldsEveryDuration) {
  for (Ticks duration : {Ticks{0}, Ticks{1}, Ticks{127}, Ticks{128}, Ticks{129}, Ticks{255},
                         Ticks{1} << 40, std::numeric_limits<Ticks>::max()}) {
    LatencyHistogram histogram;
    histogram.add(duration);
    const auto exact = static_cast<double>(duration);
    for (double share : {0.0, 0.5, 1.0}) {
      EXPECT_NEAR(histogram.percentile(share), exact, exact / 128) << duration;
    }
    EXPECT_EQ(histogram.mean(), exact);
  }
}

TEST(LatencyHistogram, IsExactForShortDurations) {
  LatencyHistogram histogram;
  for (Ticks duration = 0; duration < 100; ++duration) histogram.add(duration);
  EXPECT_EQ(histogram.percentile(0.50), 49);
  EXPECT_EQ(histogram.percentile(0.99), 98);
  EXPECT_EQ(histogram.percentile(1.00), 99);
}

TEST(LatencyHistogram, AgreesWithSorting) {
  Random random(5);
  LatencyHistogram first;
  LatencyHistogram second;
  std::vector<Ticks> all;
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Ticks duration = random.next() >> (24 + random.below(40));
    (i % 3 == 0 ? first : second).add(duration);
    all.push_back(duration);
    sum += static_cast<double>(duration);
  }
  first.merge(second);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(first.count(), all.size());
  EXPECT_NEAR(first.mean() / (sum / 20'000), 1, 1e-9);
  for (double share : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * 20'000));
    const auto exact = static_cast<double>(all[rank - 1]);
    EXPECT_NEAR(first.percentile(share), exact, exact / 128 + 0.5) << share;
  }
}

}  // namespace
}  // namespace farvec::transport
