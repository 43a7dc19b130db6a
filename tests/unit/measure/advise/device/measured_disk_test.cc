#include "measure/advise/device/measured_disk.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::measure {
namespace {

constexpr double kSeconds = 0.5;

AdviceDevice measure(const DiskTarget& target) {
  MeasuredDisk disk(target, 1, kSeconds);
  disk.measure();
  return disk.device();
}

void expect_ascending(const std::vector<ReadCost>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_GT(sizes[i].occupied_ns, 0);
    EXPECT_LE(sizes[i].fastest, 1);
    EXPECT_GE(sizes[i].slowest, 1);
    if (i == 0) continue;
    EXPECT_LT(sizes[i - 1].bytes, sizes[i].bytes);
    EXPECT_LE(sizes[i - 1].occupied_ns, sizes[i].occupied_ns);
    EXPECT_LE(sizes[i - 1].kernel_ns, sizes[i].kernel_ns);
  }
}

TEST(MeasuredDisk, SaysWhatReadsOfEachSizeTookAloneAndTogether) {
  tests::TemporaryFolder folder;
  const AdviceDevice disk = measure({folder.path().string(), 4 << 20});
  EXPECT_EQ(folder.entries(), 0u);
  EXPECT_TRUE(disk.is_measured());
  EXPECT_TRUE(disk.is_disk());
  ASSERT_NE(disk.file, nullptr);
  EXPECT_EQ(disk.model.name, "ssd:" + folder.path().string());
  EXPECT_GT(disk.model.latency_us, 0);
  EXPECT_GT(disk.copy_ns_per_byte, 0);
  ASSERT_GE(disk.measured.size(), 2u);
  EXPECT_EQ(disk.measured.front().bytes, disk.model.block_bytes);
  EXPECT_EQ(disk.measured.back().bytes, 65536);
  expect_ascending(disk.measured);
  ASSERT_EQ(disk.together.size(), 2u);
  EXPECT_EQ(disk.together[0].reads, 16);
  EXPECT_EQ(disk.together[1].reads, 64);
  for (const TogetherCosts& group : disk.together) {
    EXPECT_EQ(group.sizes.size(), disk.measured.size());
    EXPECT_EQ(group.sizes.back().bytes, 65536 + disk.model.block_bytes);
    expect_ascending(group.sizes);
  }
  for (const DepthShare& fewer : disk.shallow) {
    EXPECT_LT(fewer.depth, disk.depth);
    EXPECT_LT(fewer.share, 0.95);
  }
  EXPECT_NEAR(disk.model.requests_per_us * disk.measured.front().occupied_ns, 1e3, 1e-6);
  EXPECT_TRUE(to_string(disk).ends_with("(measured here)"));
}

TEST(MeasuredDisk, ASmallFileHasNoLargeReads) {
  tests::TemporaryFolder folder;
  std::ofstream(folder.file("small"), std::ios::binary) << std::string(9000, 'x');
  const AdviceDevice disk = measure({folder.file("small"), 1});
  EXPECT_LE(disk.measured.back().bytes, 9000);
  std::ofstream(folder.file("tiny"), std::ios::binary) << std::string(700, 'x');
  const AdviceDevice tiny = measure({folder.file("tiny"), 1});
  EXPECT_EQ(tiny.measured.size(), 1u);
  EXPECT_GT(tiny.occupied_ns(100, 16), 0);
}

TEST(MeasuredDisk, RefusesWhatIsNoDisk) {
  tests::TemporaryFolder folder;
  EXPECT_THROW(measure({folder.file("none"), 4096}), Error);
  EXPECT_THROW(measure({folder.path().string(), std::uint64_t{1} << 60}), Error);
  EXPECT_THROW(measure({"/dev/null", 4096}), Error);
  std::ofstream(folder.file("empty"), std::ios::binary);
  EXPECT_THROW(measure({folder.file("empty"), 4096}), Error);
}

TEST(ReadCosts, AreTheMedianPassAndTheSpreadAroundIt) {
  const std::vector<DiskSeries> series{{{}, 512, {90, 100, 130, 80, 110}, {5, 7, 6, 5, 5}},
                                       {{}, 4096, {99, 50, 200}, {4, 4, 4}}};
  const std::vector<ReadCost> costs = read_costs(series);
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_EQ(costs[0].bytes, 512);
  EXPECT_EQ(costs[0].occupied_ns, 100);
  EXPECT_EQ(costs[0].kernel_ns, 5);
  EXPECT_DOUBLE_EQ(costs[0].fastest, 0.8);
  EXPECT_DOUBLE_EQ(costs[0].slowest, 1.3);
  // A larger read is not cheaper than a smaller one; the spread is that of its own passes.
  EXPECT_EQ(costs[1].occupied_ns, 100);
  EXPECT_EQ(costs[1].kernel_ns, 5);
  EXPECT_DOUBLE_EQ(costs[1].slowest, 200 / 99.0);
}

}  // namespace
}  // namespace farvec::measure
