#include "search/sources/posting_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/random.h"
#include "layout/cluster/cluster_encoder.h"
#include "tests/unit/layout/cluster/random_clusters.h"

namespace farvec::search {
namespace {

using layout::Address;
using layout::ClusterLayoutKind;

/// A grouped index in memory.
class Region {
 public:
  explicit Region(ClusterLayoutKind kind) : encoder_(kind, clusters_.contents()) {
    region_ = HugeBuffer(encoder_.region_bytes());
    std::size_t end = layout::kRegionHeaderBytes;
    encoder_.stream(
        1,
        [&](std::span<const std::byte> bytes) {
          std::copy(bytes.begin(), bytes.end(), region_.data() + end);
          end += bytes.size();
        },
        [](std::uint64_t) {});
    const auto table = std::as_bytes(encoder_.table());
    HugeBuffer copy(table.size());
    std::copy(table.begin(), table.end(), copy.data());
    locator_ = std::make_unique<layout::ClusterLocator>(encoder_.geometry(), std::move(copy), 0,
                                                        encoder_.region_bytes());
  }

  const layout::ClusterLocator& locator() const { return *locator_; }
  const layout::RandomClusters& clusters() const { return clusters_; }
  std::span<const std::byte> list(ClusterId cluster) const {
    const layout::ByteRange range = locator_->list(cluster);
    return region_.span().subspan(range.offset, range.bytes);
  }
  NodeId id_at(Address address) const {
    return load_unaligned<NodeId>(region_.data() + locator_->offset_of(address) +
                                  locator_->geometry().vector_bytes);
  }

 private:
  layout::RandomClusters clusters_{2000, 40, 6};
  layout::ClusterEncoder encoder_;
  HugeBuffer region_;
  std::unique_ptr<layout::ClusterLocator> locator_;
};

/// The vectors that the plan's reads bring, as a set; checks that nothing comes twice.
std::set<NodeId> brought(const Region& region, const PostingPlan& plan) {
  std::set<NodeId> ids;
  std::vector<Address> records;
  for (const PostingPlan::Run& run : plan.runs()) {
    for (std::uint32_t i = 0; i < run.records; ++i) records.push_back(run.first + i);
  }
  EXPECT_EQ(records.size(), plan.run_records());
  for (std::size_t i = 0; i < plan.picks().size(); ++i) {
    EXPECT_EQ(records[plan.picks()[i]], plan.strays()[i]);
    EXPECT_TRUE(ids.insert(region.id_at(plan.strays()[i])).second);
  }
  return ids;
}

Status run_round(const Region& region, PostingPlan& plan, const std::vector<ClusterId>& clusters) {
  plan.open(clusters);
  for (const ClusterId cluster : clusters) {
    if (region.list(cluster).empty()) continue;
    if (Status status = plan.take_list(cluster, region.list(cluster)); !status.ok()) return status;
  }
  plan.close();
  return {};
}

std::set<NodeId> in_groups(const Region& region, const std::vector<ClusterId>& clusters) {
  std::set<NodeId> ids;
  for (const ClusterId cluster : clusters) {
    for (std::uint32_t i = 0; i < region.locator().entry(cluster).group_records; ++i) {
      ids.insert(region.id_at(region.locator().first_of_group(cluster) + i));
    }
  }
  return ids;
}

std::set<NodeId> members(const Region& region, const std::vector<ClusterId>& clusters) {
  std::set<NodeId> ids;
  for (const ClusterId cluster : clusters) {
    for (const NodeId id : region.clusters().members_of(cluster)) ids.insert(id);
  }
  return ids;
}

class PostingPlanTest : public testing::TestWithParam<ClusterLayoutKind> {};

TEST_P(PostingPlanTest, StraysAndGroupsAreAllMembersOnce) {
  const Region region(GetParam());
  PostingPlan plan(region.locator());
  const std::vector<ClusterId> probed = {3, 30, 7, 12, 39};
  for (const std::optional<std::uint32_t> gap :
       {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(0),
        std::optional<std::uint32_t>(70)}) {
    plan.begin({.dedup = true, .merge_gap_bytes = gap});
    ASSERT_TRUE(run_round(region, plan, probed).ok());
    std::set<NodeId> all = brought(region, plan);
    for (const NodeId id : in_groups(region, probed)) EXPECT_TRUE(all.insert(id).second) << id;
    EXPECT_EQ(all, members(region, probed));
    if (!gap) {
      EXPECT_EQ(plan.runs().size(), plan.strays().size());
    }
  }
}

TEST_P(PostingPlanTest, RunsFitTheRoom) {
  const Region region(GetParam());
  const std::uint64_t record = region.locator().geometry().record_bytes();
  PostingPlan plan(region.locator());
  const std::vector<ClusterId> probed = {3, 30, 7, 12, 39};
  const auto plan_in = [&](const PostingRoom& room) {
    plan.begin({.dedup = true, .merge_gap_bytes = 1u << 20});
    plan.open(probed);
    for (const ClusterId cluster : probed) {
      if (region.list(cluster).empty()) continue;
      ASSERT_TRUE(plan.take_list(cluster, region.list(cluster)).ok());
    }
    plan.close(room);
    std::set<NodeId> all = brought(region, plan);
    for (const NodeId id : in_groups(region, probed)) EXPECT_TRUE(all.insert(id).second) << id;
    EXPECT_EQ(all, members(region, probed));
  };
  plan_in({});
  ASSERT_FALSE(plan.runs().empty());
  EXPECT_EQ(plan.runs().size(), 1u) << "the gap joins all";
  const std::uint64_t strays = plan.strays().size();
  const std::uint64_t joined = plan.run_records();
  ASSERT_LT(2 * strays, joined);
  for (const std::uint64_t records : {strays, strays + 1, 2 * strays, joined - 1}) {
    plan_in({.bytes = records * record});
    EXPECT_LE(plan.run_records(), records);
  }
  for (const std::uint64_t longest : {1, 2, 7}) {
    plan_in({.read_bytes = longest * record});
    for (const PostingPlan::Run& run : plan.runs()) EXPECT_LE(run.records, longest);
  }
}

TEST_P(PostingPlanTest, ALargerGapMakesFewerReads) {
  const Region region(GetParam());
  PostingPlan plan(region.locator());
  std::size_t last = ~std::size_t{0};
  for (const std::uint32_t gap : {0u, 30u, 100u, 1000u, 1u << 20}) {
    plan.begin({.dedup = true, .merge_gap_bytes = gap});
    ASSERT_TRUE(run_round(region, plan, {1, 2, 3, 4}).ok());
    EXPECT_LE(plan.runs().size(), last);
    last = plan.runs().size();
    const std::uint32_t record = region.locator().geometry().record_bytes();
    for (std::size_t i = 1; i < plan.runs().size(); ++i) {
      const auto end = plan.runs()[i - 1].first + plan.runs()[i - 1].records;
      EXPECT_GT((plan.runs()[i].first - end) * record, gap);
    }
  }
  EXPECT_EQ(last, 1u);
}

TEST_P(PostingPlanTest, WithoutDedupEveryAddressIsRead) {
  const Region region(GetParam());
  PostingPlan plan(region.locator());
  const std::vector<ClusterId> probed = {3, 30, 7};
  plan.begin({.dedup = false, .merge_gap_bytes = 1000});
  ASSERT_TRUE(run_round(region, plan, probed).ok());
  std::size_t addresses = 0;
  for (const ClusterId c : probed) addresses += region.locator().entry(c).list_addresses;
  EXPECT_EQ(plan.runs().size(), addresses);
  EXPECT_EQ(plan.picks().size(), addresses);
}

TEST_P(PostingPlanTest, LaterRoundsReadNothingAgain) {
  const Region region(GetParam());
  PostingPlan plan(region.locator());
  plan.begin({.dedup = true, .merge_gap_bytes = 0});
  std::set<NodeId> seen;
  std::vector<ClusterId> probed;
  for (const std::vector<ClusterId>& round :
       {std::vector<ClusterId>{5, 6}, {7, 8, 9}, {10}, {0, 1, 2, 3, 4}}) {
    ASSERT_TRUE(run_round(region, plan, round).ok());
    for (const NodeId id : brought(region, plan)) EXPECT_TRUE(seen.insert(id).second) << id;
    for (const NodeId id : in_groups(region, round)) seen.insert(id);
    probed.insert(probed.end(), round.begin(), round.end());
    EXPECT_EQ(seen, members(region, probed));
  }
}

TEST_P(PostingPlanTest, ADamagedListIsRefused) {
  const Region region(GetParam());
  PostingPlan plan(region.locator());
  plan.begin({});
  plan.open(std::vector<ClusterId>{3});
  EXPECT_EQ(plan.take_list(3, region.list(4)).code(), StatusCode::data_loss);
}

INSTANTIATE_TEST_SUITE_P(Layouts, PostingPlanTest,
                         testing::Values(ClusterLayoutKind::decoupled, ClusterLayoutKind::grouped,
                                         ClusterLayoutKind::grouped_inline),
                         [](const auto& kind) {
                           std::string name(layout::to_string(kind.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace farvec::search
