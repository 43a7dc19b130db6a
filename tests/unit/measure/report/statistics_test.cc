#include "measure/report/statistics.h"

#include <gtest/gtest.h>

namespace farvec::measure {
namespace {

TEST(Statistics, TheMedianIsTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 9, 2}), 3);
}

TEST(Statistics, APercentileIsOneOfTheValues) {
  std::vector<float> none;
  EXPECT_EQ(percentile(none, 0.5), 0);
  std::vector<float> values;
  for (int i = 100; i > 0; --i) values.push_back(static_cast<float>(i));
  EXPECT_EQ(percentile(values, 0), 1);
  EXPECT_EQ(percentile(values, 0.5), 50);
  EXPECT_EQ(percentile(values, 0.99), 99);
  EXPECT_EQ(percentile(values, 1), 100);
}

}  // namespace
}  // namespace farvec::measure
