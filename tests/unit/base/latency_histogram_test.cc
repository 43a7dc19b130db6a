#include "base/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace farvec {
namespace {

TEST(LatencyHistogram, OfNothingIsZero) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.percentile(0.5), 0);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.sum(), 0);
  EXPECT_EQ(histogram.below(std::numeric_limits<Ticks>::max()), 0u);
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
    EXPECT_EQ(histogram.max(), duration);
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
  EXPECT_EQ(first.max(), all.back());
  EXPECT_NEAR(first.sum() / sum, 1, 1e-9);
  EXPECT_NEAR(first.mean() / (sum / 20'000), 1, 1e-9);
  for (double share : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * 20'000));
    const auto exact = static_cast<double>(all[rank - 1]);
    EXPECT_NEAR(first.percentile(share), exact, exact / 128 + 0.5) << share;
  }
}

TEST(LatencyHistogram, CountsWhatIsBelow) {
  LatencyHistogram histogram;
  for (Ticks duration = 0; duration < 100'000; ++duration) histogram.add(duration);
  for (Ticks bound : {Ticks{0}, Ticks{1}, Ticks{100}}) EXPECT_EQ(histogram.below(bound), bound);
  for (Ticks bound : {Ticks{1024}, Ticks{65'536}}) EXPECT_EQ(histogram.below(bound), bound);
  for (Ticks bound : {Ticks{1000}, Ticks{12'345}, Ticks{99'999}}) {
    EXPECT_LE(histogram.below(bound), bound);
    EXPECT_GE(histogram.below(bound), bound - bound / 64);
  }
  EXPECT_EQ(histogram.below(Ticks{1} << 40), 100'000u);
}

TEST(LatencyHistogram, NoPercentileIsAboveTheLongest) {
  LatencyHistogram histogram;
  const Ticks start_of_a_bucket = Ticks{1} << 30;
  histogram.add(start_of_a_bucket);
  EXPECT_EQ(histogram.percentile(1), static_cast<double>(start_of_a_bucket));
}

}  // namespace
}  // namespace farvec
