#include "tiers/tier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/unit/search/cluster_fixture.h"

namespace farvec::tiers {
namespace {

using layout::ClusterLayoutKind;
using search::Feed;
using search::small_clusters;
using testing::HasSubstr;

constexpr ClusterLayoutKind kKind = ClusterLayoutKind::coupled;
constexpr std::uint32_t kProbe = 6;

/// One index, opened on tiers of this machine.
class TierTest : public testing::Test {
 protected:
  const search::SearchIndex& index() const { return small_clusters().index(kKind); }
  TierContext searched() { return {.memory = &records_, .index = &index()}; }
  std::unique_ptr<Tier> open(const std::string& name) {
    return Tier::open(*parse_tier(name), searched());
  }
  std::string error_of(const std::string& name, const TierContext& context) {
    try {
      (void)Tier::open(*parse_tier(name), context);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  std::string records_path() const {
    return directory_.region_path(layout::kRecordsRegion).string();
  }
  std::vector<std::string> names() const {
    return {
        "dram",          "shm", "file:" + records_path(), "ssd:" + records_path(), "emulated:cxl",
        "emulated:rdma", "ssd"};
  }

  tests::TemporaryFolder folder_;
  const layout::IndexDirectory directory_ =
      layout::IndexDirectory::open(small_clusters().path(kKind));
  IndexRecords records_{directory_};
};

TEST_F(TierTest, EveryTierFindsTheNeighbours) {
  search::SearchShape shape;
  shape.cores = 2;
  shape.slots = 4;
  shape.probe = kProbe;
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const auto tier = open(name);
    const auto set = tier->prepare(index(), shape);
    for (std::uint32_t c = 0; c < shape.cores; ++c) {
      const auto core = set->make_core();
      Feed feed(small_clusters(), 20, {.clusters = kProbe});
      core->run(feed);
      for (const auto& task : feed.tasks()) {
        search::expect_answer(task, search::nearest_members(small_clusters(), task));
      }
    }
  }
}

TEST_F(TierTest, IsWhatItsNameSaidBeforeItWasOpened) {
  for (const std::string& name : names()) {
    const TierTraits traits = parse_tier(name)->traits();
    const auto tier = open(name);
    EXPECT_EQ(tier->loads().empty(), !traits.loads) << name;
    EXPECT_EQ(tier->merge_gap_bytes(), traits.bytes_per_request) << name;
    EXPECT_EQ(tier->plan(index(), {}).has_value(), traits.disk) << name;
    EXPECT_EQ(tier->device() != nullptr, name.starts_with("emulated")) << name;
    EXPECT_TRUE(tier->alive());
    EXPECT_FALSE(tier->superseded());
    EXPECT_TRUE(tier->memory_nodes().empty());
  }
}

TEST_F(TierTest, LoadsAreTheRecords) {
  for (const std::string& name : names()) {
    const auto tier = open(name);
    const std::span<const std::byte> loads = tier->loads();
    const std::span<const std::byte> region = small_clusters().region(kKind);
    if (loads.empty()) continue;
    ASSERT_GE(loads.size(), region.size()) << name;
    EXPECT_TRUE(std::equal(region.begin(), region.end(), loads.begin())) << name;
  }
}

TEST_F(TierTest, RefusesAnotherIndexsRecords) {
  const auto other =
      layout::IndexDirectory::open(small_clusters().path(ClusterLayoutKind::grouped));
  const std::string path = other.region_path(layout::kRecordsRegion).string();
  for (const std::string word : {"file:", "devdax:", "ssd:"}) {
    EXPECT_THAT(error_of(word + path, searched()), HasSubstr(path));
    EXPECT_NE(error_of(word + folder_.file("absent"), searched()), "");
  }
}

TEST_F(TierTest, RefusesABudgetThatIsTooSmall) {
  const auto tier = open("ssd");
  search::SearchShape shape;
  shape.disk.memory_budget = tier->plan(index(), shape)->total();
  EXPECT_NO_THROW((void)tier->prepare(index(), shape));
  --*shape.disk.memory_budget;
  EXPECT_THROW((void)tier->prepare(index(), shape), Error);
}

TEST_F(TierTest, ReadsBareBytes) {
  for (const std::string& name : {std::string("dram"), "file:" + records_path()}) {
    const auto tier = Tier::open(*parse_tier(name), {.memory = &records_});
    const auto endpoint = tier->make_endpoint();
    EXPECT_EQ(endpoint->region_bytes(0), small_clusters().region(kKind).size());
    EXPECT_EQ(endpoint->description().find("emulated"), std::string::npos);
  }
  EXPECT_THAT(error_of("ssd", {.memory = &records_}), HasSubstr("bench disk"));
}

TEST_F(TierTest, SaysThatAMemoryNodeHasNoName) {
  EXPECT_THAT(error_of("verbs,device=rxe0", searched()),
              HasSubstr("name the memory node, verbs:HOST:PORT"));
  EXPECT_THAT(error_of("fabric:tcp", searched()), HasSubstr("fabric:tcp:HOST:PORT"));
}

}  // namespace
}  // namespace farvec::tiers
