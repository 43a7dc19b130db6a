#include "ssd_baseline/io/batch_size.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/unit/ssd_baseline/disk_fixture.h"

namespace farvec::ssd_baseline {
namespace {

std::uint32_t size(double alpha, double latency_us, double compute_us, std::uint32_t most = 64) {
  return batch_size(
      {.alpha = alpha, .latency_us = latency_us, .compute_us = compute_us, .most = most});
}

TEST(BatchSize, IsTheCeilingOfTheLatencyOverTheComputing) {
  EXPECT_EQ(size(1, 75, 10), 8u);
  EXPECT_EQ(size(1, 80, 10), 8u);
  EXPECT_EQ(size(0.5, 75, 10), 4u);
  EXPECT_EQ(size(2, 75, 10), 15u);
  EXPECT_EQ(size(1, 75, 100), 1u);
}

TEST(BatchSize, StaysWithinItsBounds) {
  EXPECT_EQ(size(1, 75, 0.01), 64u);
  EXPECT_EQ(size(1, 75, 0), 64u);
  EXPECT_EQ(size(1, 0, 10), 1u);
  EXPECT_EQ(size(0, 75, 10), 1u);
  EXPECT_EQ(size(1, std::nan(""), 10), 1u);
  EXPECT_EQ(size(1, INFINITY, 10), 64u);
  EXPECT_EQ(size(1, 75, 1, 0), 1u);
}

TEST_F(DiskTest, MeasuresALatency) {
  make_file(64 * kBlock + 1);
  auto engine = open();
  const double us = mean_read_latency_us(*engine, {.reads = 20});
  EXPECT_GT(us, 0);
  EXPECT_LT(us, 2e6);
  EXPECT_EQ(engine->outstanding(), 0u);
  EXPECT_GT(mean_read_latency_us(*engine, {.reads = 1, .bytes = 1 << 20}), 0);  // the whole file
}

TEST_F(DiskTest, ALatencyNeedsAFileThatCanBeRead) {
  make_file(0);
  EXPECT_THROW(mean_read_latency_us(*open()), Error);
  make_file(kBlock);
  EXPECT_THROW(mean_read_latency_us(*open_faulty({.bad_blocks = {{.bytes = kBlock}}})), Error);
  auto hanging = open_faulty({.drop_rate = 1});
  EXPECT_THROW(mean_read_latency_us(*hanging, {.limit_us = 1000}), Error);
  EXPECT_TRUE(hanging->closed());
}

}  // namespace
}  // namespace farvec::ssd_baseline
