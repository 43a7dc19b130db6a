#include "measure/advise/sample_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace farvec::measure {
namespace {

using Sizes = std::vector<std::uint64_t>;

TEST(DefaultSample, IsAQuarterWithinLimits) {
  EXPECT_EQ(default_sample(1'000'000, 128), 250'000u);
  EXPECT_EQ(default_sample(300'000, 100), 100'000u);
  EXPECT_EQ(default_sample(60'000, 784), 60'000u);
  EXPECT_EQ(default_sample(1'000'000'000, 128), (std::uint64_t{1} << 30) / 128);
  EXPECT_EQ(default_sample(1'000'000'000, 1 << 20), 100'000u);
}

TEST(SampleSizes, AreThreeWhereTheRowsSuffice) {
  EXPECT_EQ(sample_sizes(250'000, 1000), (Sizes{15'625, 62'500, 250'000}));
  EXPECT_EQ(sample_sizes(16'000, 1000), (Sizes{1000, 4000, 16'000}));
  EXPECT_EQ(sample_sizes(15'999, 1000), (Sizes{3999, 15'999}));
  EXPECT_EQ(sample_sizes(3999, 1000), (Sizes{3999}));
}

TEST(CutSample, IsWhatIsAffordable) {
  EXPECT_EQ(cut_sample(400, 100, 1e9), 400u);
  EXPECT_EQ(cut_sample(400, 100, 300.9), 300u);
  EXPECT_EQ(cut_sample(400, 100, 1), 200u);
  EXPECT_EQ(cut_sample(400, 100, -5), 200u);
  EXPECT_EQ(cut_sample(150, 100, -5), 150u);
}

TEST(CountsDependOnDevice, WhereStraysShareReads) {
  EXPECT_FALSE(counts_depend_on_device({}));
  Setting clusters{layout::IndexKind::cluster, 0, {100, 8}, layout::ClusterLayoutKind::coupled};
  EXPECT_FALSE(counts_depend_on_device(clusters));
  clusters.layout = layout::ClusterLayoutKind::grouped;
  EXPECT_TRUE(counts_depend_on_device(clusters));
}

}  // namespace
}  // namespace farvec::measure
