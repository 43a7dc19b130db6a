#include "tiers/tier_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::tiers {
namespace {

using testing::ElementsAre;

TEST(Tier, ReadsWhatItPrints) {
  for (const char* text : {"dram",
                           "shm",
                           "file:/tmp/x:y",
                           "numa:1",
                           "devdax:/dev/dax0.0",
                           "pmem:/mnt/pmem0/farvec",
                           "emulated:rdma",
                           "verbs",
                           "verbs:host:7700",
                           "verbs:unix:/tmp/m",
                           "fabric:tcp",
                           "verbs,device=rxe0",
                           "verbs:host:7700,device=mlx5_0,gid=3",
                           "verbs:unix:/tmp/m,gid=0",
                           "verbs:host:7700,device=mlx5_0,gid=3,reads=512",
                           "verbs,reads=1",
                           "fabric:tcp:host:7700",
                           "fabric:verbs;ofi_rxm:unix:/tmp/m",
                           "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,block=128",
                           "emulated:cxl,cores=48",
                           "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,block=64,cores=2",
                           "ssd",
                           "ssd:/dev/nvme0n1",
                           "ssd,model=ssd-a",
                           "ssd:/dev/nvme0n1,model=custom,read=80us,dies=4,cores=2"}) {
    EXPECT_EQ(parse_tier(text)->name(), text);
  }
}

TEST(Tier, RefusesNonsense) {
  for (const char* text : {"",
                           "dram:",
                           "dram:x",
                           "file",
                           "file:",
                           "devdax",
                           "numa",
                           "numa:",
                           "numa:x",
                           "numa:1x",
                           "numa:-1",
                           "pmem:",
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
                           "ssd,",
                           "ssd,cores=2",
                           "ssd,model=",
                           "ssd,model=nvme",
                           "ssd,model=ssd-a,speed=1us",
                           "tape",
                           "DRAM"}) {
    EXPECT_THROW((void)parse_tier(text), Error) << text;
  }
}

std::vector<std::string> names_of(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& tier : parse_tiers(text)) names.push_back(tier->name());
  return names;
}

TEST(Tier, TakesSeveralMemoryNodes) {
  EXPECT_THAT(
      names_of("verbs:a:1,[::1]:2,device=rxe0,gid=1,fabric:tcp:a:1,unix:/tmp/b,dram"),
      ElementsAre("verbs:a:1,[::1]:2,device=rxe0,gid=1", "fabric:tcp:a:1,unix:/tmp/b", "dram"));
  EXPECT_TRUE(parse_tier("verbs:a:1,b:1")->traits().spans_nodes);
  EXPECT_FALSE(parse_tier("verbs:a:1,device=rxe0")->traits().spans_nodes);
}

TEST(Tier, SplitsLists) {
  EXPECT_THAT(names_of("dram,emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,shm,emulated:cxl"),
              ElementsAre("dram", "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,block=64",
                          "shm", "emulated:cxl"));
  EXPECT_THAT(names_of("fabric:tcp:unix:/tmp/m,verbs:[::1]:77,fabric:shm:host:1"),
              ElementsAre("fabric:tcp:unix:/tmp/m", "verbs:[::1]:77", "fabric:shm:host:1"));
  EXPECT_THAT(names_of("verbs:a:1,device=rxe0,gid=1,verbs:b:2,gid=0,device=rxe1,dram"),
              ElementsAre("verbs:a:1,device=rxe0,gid=1", "verbs:b:2,device=rxe1,gid=0", "dram"));
  EXPECT_THROW((void)parse_tiers("dram,"), Error);
  EXPECT_THROW((void)parse_tiers(""), Error);
  EXPECT_THROW((void)parse_tiers("rate=5M/s,dram"), Error);
}

TEST(Tier, KnowsHowAMemoryNodeIsRead) {
  const ReadPath verbs = parse_tier("verbs:a:1,device=rxe0,gid=3,reads=512")->read_path();
  EXPECT_EQ(verbs.kind, ReadPathKind::verbs);
  EXPECT_EQ(verbs.device.name, "rxe0");
  EXPECT_EQ(verbs.device.gid_index, 3u);
  EXPECT_EQ(verbs.device.read_budget, 512u);
  const ReadPath fabric = parse_tier("fabric:verbs;ofi_rxm:a:1")->read_path();
  EXPECT_EQ(fabric.kind, ReadPathKind::fabric);
  EXPECT_EQ(fabric.provider, "verbs;ofi_rxm");
  EXPECT_FALSE(parse_tier("verbs")->read_path().device.chosen());
  for (const char* text : {"dram", "shm", "file:x", "devdax:x", "pmem:x", "emulated:rdma", "ssd"}) {
    EXPECT_FALSE(parse_tier(text)->is_remote()) << text;
  }
}

TEST(Tier, KnowsWhatARequestCosts) {
  const auto bytes = [](const char* text) { return parse_tier(text)->traits().bytes_per_request; };
  EXPECT_EQ(bytes("dram"), 0u);
  EXPECT_EQ(bytes("emulated:rdma"), 250u);
  EXPECT_EQ(bytes("emulated:cxl"), 80u);
  EXPECT_EQ(bytes("emulated:ssd"), 8833u);
}

TEST(Tier, KnowsWhichRecordsAreLoads) {
  for (const char* text :
       {"dram", "shm", "file:x", "devdax:x", "pmem:x", "emulated:cxl", "emulated:nvm"}) {
    EXPECT_TRUE(parse_tier(text)->traits().loads) << text;
  }
  for (const char* text : {"verbs:a:1", "fabric:tcp:a:1", "ssd", "emulated:rdma"}) {
    EXPECT_FALSE(parse_tier(text)->traits().loads) << text;
  }
}

TEST(Tier, KnowsWhatOpensOverAttachedNodes) {
  for (const char* text : {"shm", "verbs", "verbs,device=x", "fabric:tcp", "emulated:rdma"}) {
    EXPECT_TRUE(parse_tier(text)->traits().over_nodes) << text;
  }
  for (const char* text : {"dram", "ssd", "file:x", "verbs:a:1", "fabric:tcp:a:1"}) {
    EXPECT_FALSE(parse_tier(text)->traits().over_nodes) << text;
  }
}

TEST(Tier, TellsWhatThereIsForEachUse) {
  EXPECT_EQ(tier_usage(TierUse::here),
            "dram, shm, numa:NODE, file:PATH, devdax:PATH, pmem:PATH, "
            "ssd[:PATH][,model=DISK[,cores=N]] or emulated:MODEL");
  EXPECT_EQ(
      tier_usage(TierUse::over_nodes),
      "shm, verbs[,device=NAME][,gid=INDEX][,reads=BUDGET], fabric:PROVIDER or emulated:MODEL");
  EXPECT_THAT(tier_help(TierUse::search), testing::HasSubstr("verbs:ADDRESS"));
  EXPECT_THAT(tier_help(TierUse::bench), testing::Not(testing::HasSubstr("ssd[:PATH]")));
}

}  // namespace
}  // namespace farvec::tiers
