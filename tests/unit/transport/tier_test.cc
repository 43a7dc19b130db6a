#include "transport/tier.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::transport {
namespace {

TEST(Tier, ReadsWhatItPrints) {
  for (const char* text : {"dram", "shm", "file:/tmp/x:y", "devdax:/dev/dax0.0", "emulated:rdma",
                           "verbs", "verbs:host:7700", "verbs:unix:/tmp/m", "fabric:tcp",
                           "fabric:tcp:host:7700", "fabric:verbs;ofi_rxm:unix:/tmp/m",
                           "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,block=128"}) {
    EXPECT_EQ(to_string(parse_tier(text)), text);
  }
}

TEST(Tier, RefusesNonsense) {
  for (const char* text : {"", "dram:", "dram:x", "file", "file:", "devdax", "emulated",
                           "emulated:", "emulated:floppy", "verbs:", "fabric", "fabric:",
                           "fabric::", "fabric::unix:/tmp/m", "fabric:tcp:", "tape", "DRAM"}) {
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
  const auto remote = parse_tiers("fabric:tcp:unix:/tmp/m,verbs:[::1]:77,fabric:shm:host:1");
  ASSERT_EQ(remote.size(), 3u);
  EXPECT_EQ(remote[0].provider, "tcp");
  EXPECT_EQ(remote[0].path, "unix:/tmp/m");
  EXPECT_EQ(remote[1].path, "[::1]:77");
  EXPECT_EQ(remote[2].path, "host:1");
  EXPECT_THROW((void)parse_tiers("dram,"), Error);
  EXPECT_THROW((void)parse_tiers(""), Error);
  EXPECT_THROW((void)parse_tiers("rate=5M/s,dram"), Error);
}

TEST(Tier, KnowsWhatIsReadThroughADevice) {
  EXPECT_TRUE(is_remote(TierKind::verbs));
  EXPECT_TRUE(is_remote(TierKind::fabric));
  EXPECT_FALSE(is_remote(TierKind::shm));
  EXPECT_FALSE(is_remote(TierKind::emulated));
}

}  // namespace
}  // namespace farvec::transport
