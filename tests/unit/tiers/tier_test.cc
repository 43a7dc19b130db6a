#include "tiers/tier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "device/pmem_memory.h"
#include "device/stored_index.h"
#include "tests/unit/message_of.h"
#include "tests/unit/search/cluster_fixture.h"
#include "tests/unit/search/part_fixture.h"

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
    return {"dram",
            "shm",
            "file:" + records_path(),
            "ssd:" + records_path(),
            "emulated:cxl",
            "emulated:rdma",
            "ssd",
            "pmem:" + stored_path(),
            "numa:0"};
  }
  /// A file that stands for a memory device, with the index on it.
  std::string stored_path() const {
    const std::string path = folder_.file("device");
    if (std::filesystem::exists(path)) return path;
    device::create_pmem_file(path, 32 * layout::kDeviceUnitBytes);
    const auto writer = device::MemoryAccess::read_write;
    device::DeviceStore::format(device::open_pmem(path, {.access = writer}), false);
    (void)device::store_index(device::open_store(path, {.access = writer}), directory_, 0, "",
                              {.threads = 1, .quiet = true});
    return path;
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

TEST_F(TierTest, PartsOfEveryTierShareAScheduler) {
  constexpr std::uint32_t kSlots = 2;
  search::SearchShape shape;
  shape.slots = kSlots;
  shape.probe = kProbe;
  std::vector<std::unique_ptr<Tier>> tiers;
  std::vector<std::unique_ptr<const CoreSet>> sets;
  coroutines::Scheduler scheduler({kSlots});
  std::vector<std::unique_ptr<search::CorePart>> parts;
  std::vector<Feed> feeds;
  feeds.reserve(names().size());
  for (const std::string& name : names()) {
    tiers.push_back(open(name));
    sets.push_back(tiers.back()->prepare(index(), shape));
    EXPECT_EQ(sets.back()->slots(), kSlots);
    parts.push_back(sets.back()->make_part(scheduler));
    feeds.emplace_back(small_clusters(), 10, search::ProbeChoice{.clusters = kProbe});
  }
  scheduler.set_poller([&] { return search::poll_all(parts); });
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    const auto search_all = [&, slot] {
      for (std::size_t p = 0; p < parts.size(); ++p) {
        for (std::size_t i = slot; i < feeds[p].tasks().size(); i += kSlots) {
          search::search_now(*parts[p], slot, feeds[p].tasks()[i]);
        }
      }
    };
    ASSERT_TRUE(scheduler.spawn(search_all).ok());
  }
  scheduler.run();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    SCOPED_TRACE(names()[p]);
    for (const auto& task : feeds[p].tasks()) {
      search::expect_answer(task, search::nearest_members(small_clusters(), task));
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
  for (const std::string word : {"file:", "devdax:", "pmem:", "ssd:"}) {
    EXPECT_THAT(error_of(word + path, searched()), HasSubstr(path));
    EXPECT_NE(error_of(word + folder_.file("absent"), searched()), "");
  }
}

TEST_F(TierTest, RefusesADeviceWithoutTheIndex) {
  const std::string path = stored_path();
  {
    const auto store = device::open_store(path, {.access = device::MemoryAccess::read_write});
    ASSERT_TRUE(store->remove(0));
  }
  EXPECT_THAT(error_of("pmem:" + path, searched()), HasSubstr("does not hold the index"));
}

TEST_F(TierTest, KeepsTheIndexWhereItLiesWhileItIsSearched) {
  const std::string path = stored_path();
  const auto tier = open("pmem:" + path);
  const auto writer = device::open_store(path, {.access = device::MemoryAccess::read_write});
  EXPECT_FALSE(writer->remove(0));
}

TEST_F(TierTest, RefusesANumaNodeThatIsNotThere) {
  const auto tier = open("numa:4000");
  EXPECT_THAT(tests::message_of([&] { (void)tier->make_endpoint(); }),
              HasSubstr("there is no NUMA node 4000 with memory; those that have some: 0"));
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
