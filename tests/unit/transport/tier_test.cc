#include "transport/tier.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::transport {
namespace {

TEST(Tier, ReadsWhatItPrints) {
  for (const char* text :
       {"dram", "shm", "file:/tmp/x:y", "devdax:/dev/dax0.0", "emulated:rdma", "verbs",
        "verbs:host:7700", "verbs:unix:/tmp/m", "fabric:tcp", "verbs,device=rxe0",
        "verbs:host:7700,device=mlx5_0,gid=3", "verbs:unix:/tmp/m,gid=0",
        "verbs:host:7700,device=mlx5_0,gid=3,reads=512", "verbs,reads=1", "fabric:tcp:host:7700",
        "fabric:verbs;ofi_rxm:unix:/tmp/m",
        "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,block=128", "ssd", "ssd:/dev/nvme0n1"}) {
    EXPECT_EQ(to_string(parse_tier(text)), text);
  }
}

TEST(Tier, RefusesNonsense) {
  for (const char* text : {"",
                           "dram:",
                           "dram:x",
                           "file",
                           "file:",
                           "devdax",
                           "emulated",
                           "emulated:",
                           "emulated:floppy",
                           "verbs:",
                           "verbs,",
                           "verbs:,gid=1",
                           "verbsx",
                           "verbsx,gid=1",
                           "verbs:a:1,gid=",
                           "verbs:a:1,gid=x",
                           "verbs:a:1,gid=-1",
                           "verbs:a:1,device=",
                           "verbs:a:1,port=1",
                           "verbs:a:1,gid=1,gid=1",
                           "verbs:a:1,reads=0",
                           "verbs:a:1,reads=",
                           "verbs:a:1,reads=many",
                           "verbs:a:1,reads=-1",
                           "verbs:a:1,reads=4294967296",
                           "verbs:a:1,reads=8,reads=8",
                           "dram,gid=1",
                           "fabric",
                           "fabric:",
                           "fabric::",
                           "fabric::unix:/tmp/m",
                           "fabric:tcp:",
                           "ssd:",
                           "tape",
                           "DRAM"}) {
    EXPECT_THROW((void)parse_tier(text), Error) << text;
  }
}

TEST(Tier, TakesSeveralMemoryNodes) {
  const auto tiers =
      parse_tiers("verbs:a:1,[::1]:2,device=rxe0,gid=1,fabric:tcp:a:1,unix:/tmp/b,dram");
  ASSERT_EQ(tiers.size(), 3u);
  EXPECT_EQ(tiers[0].path, "a:1,[::1]:2");
  EXPECT_EQ(tiers[0].device.name, "rxe0");
  EXPECT_EQ(tiers[1].path, "a:1,unix:/tmp/b");
  EXPECT_EQ(to_string(tiers[1]), "fabric:tcp:a:1,unix:/tmp/b");
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
  const auto devices = parse_tiers("verbs:a:1,device=rxe0,gid=1,verbs:b:2,gid=0,device=rxe1,dram");
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].path, "a:1");
  EXPECT_EQ(devices[0].device.name, "rxe0");
  EXPECT_EQ(devices[0].device.gid_index, 1u);
  EXPECT_EQ(devices[1].path, "b:2");
  EXPECT_EQ(devices[1].device.name, "rxe1");
  EXPECT_EQ(devices[1].device.gid_index, 0u);
  EXPECT_FALSE(devices[2].device.chosen());
  EXPECT_THROW((void)parse_tiers("dram,"), Error);
  EXPECT_THROW((void)parse_tiers(""), Error);
  EXPECT_THROW((void)parse_tiers("rate=5M/s,dram"), Error);
}

TEST(Tier, KnowsWhatARequestCosts) {
  EXPECT_EQ(bytes_per_request(parse_tier("dram")), 0u);
  EXPECT_EQ(bytes_per_request(parse_tier("emulated:rdma")), 250u);
  EXPECT_EQ(bytes_per_request(parse_tier("emulated:cxl")), 64u);
  EXPECT_EQ(bytes_per_request(parse_tier("emulated:ssd")), 4076u);
}

TEST(Tier, KnowsWhatIsReadThroughADevice) {
  EXPECT_TRUE(is_remote(TierKind::verbs));
  EXPECT_TRUE(is_remote(TierKind::fabric));
  EXPECT_FALSE(is_remote(TierKind::shm));
  EXPECT_FALSE(is_remote(TierKind::emulated));
}

}  // namespace
}  // namespace farvec::transport
