#include "transport/tier.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::transport {
namespace {

TEST(Tier, ReadsWhatItPrints) {
  for (const char* text : {"dram", "shm", "file:/tmp/x:y", "devdax:/dev/dax0.0", "emulated:rdma",
                           "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,block=128"}) {
    EXPECT_EQ(to_string(parse_tier(text)), text);
  }
}

TEST(Tier, RefusesNonsense) {
  for (const char* text : {"", "dram:", "dram:x", "file", "file:", "devdax", "emulated",
                           "emulated:", "emulated:floppy", "tape", "DRAM"}) {
    EXPECT_THROW((void)parse_tier(text), Error) << text;
  }
}

TEST(Tier, SplitsLists) {
  const auto tiers =
      parse_tiers("dram,emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,shm,emulated:cxl");
  ASSERT_EQ(tiers.size(), 4u);
  EXPECT_EQ(tiers[1].model.latency_us, 5);
  EXPECT_EQ(tiers[2].kind, TierKind::shm);
  EXPECT_EQ(tiers[3].model.name, "cxl");
  EXPECT_THROW((void)parse_tiers("dram,"), Error);
  EXPECT_THROW((void)parse_tiers(""), Error);
  EXPECT_THROW((void)parse_tiers("rate=5M/s,dram"), Error);
}

}  // namespace
}  // namespace farvec::transport
