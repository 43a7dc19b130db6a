#include "ssd_baseline/paged/placement/partition_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/random.h"

namespace farvec::paged {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<PartitionOverlap> rank(const std::vector<std::uint32_t>& tags) {
  std::vector<PartitionOverlap> ranked{{99, 99}};
  rank_partitions(tags, ranked);
  return ranked;
}

/// Algorithm 2 as it stands, lines 3 to 19: counts for all partitions, sorts all of them, and takes
/// the first that holds a neighbour and has an insert page.
std::optional<std::uint32_t> naive_choice(const std::vector<std::uint32_t>& tags,
                                          const std::vector<bool>& has_insert_page) {
  std::vector<PartitionOverlap> candidates;
  for (std::uint32_t p = 0; p < has_insert_page.size(); ++p) {
    const auto count = std::count(tags.begin(), tags.end(), p + 1);
    candidates.push_back({p, static_cast<std::uint32_t>(count)});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.neighbors > b.neighbors; });
  for (const auto& candidate : candidates) {
    if (candidate.neighbors > 0 && has_insert_page[candidate.partition]) return candidate.partition;
  }
  return std::nullopt;
}

TEST(RankPartitions, CountsNeighbours) {
  EXPECT_THAT(rank({3, 1, 3, 8, 1, 3}),
              ElementsAre(PartitionOverlap{2, 3}, PartitionOverlap{0, 2}, PartitionOverlap{7, 1}));
}

TEST(RankPartitions, OfEquallyManyTheSmallerComesFirst) {
  EXPECT_THAT(rank({9, 4, 4, 9, 2}),
              ElementsAre(PartitionOverlap{3, 2}, PartitionOverlap{8, 2}, PartitionOverlap{1, 1}));
}

TEST(RankPartitions, LeavesOutPagesWithoutAPartition) {
  EXPECT_THAT(rank({0, 5, 0}), ElementsAre(PartitionOverlap{4, 1}));
  EXPECT_THAT(rank({0, 0}), IsEmpty());
  EXPECT_THAT(rank({}), IsEmpty());
}

TEST(RankPartitions, ChoosesWhatTheLoopOverAllPartitionsChooses) {
  constexpr std::uint32_t kPartitions = 40;
  Random random(8);
  for (const double share : {0.0, 0.1, 0.5, 1.0}) {
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<bool> has_insert_page(kPartitions);
      for (std::uint32_t p = 0; p < kPartitions; ++p) has_insert_page[p] = random.uniform() < share;
      std::vector<std::uint32_t> tags(random.below(48));
      const std::uint64_t reach = 1 + random.below(kPartitions + 1);
      for (auto& tag : tags) tag = static_cast<std::uint32_t>(random.below(reach));
      const auto ranked = rank(tags);
      const auto chosen = std::find_if(ranked.begin(), ranked.end(), [&](const auto& overlap) {
        return has_insert_page[overlap.partition];
      });
      const auto expected = naive_choice(tags, has_insert_page);
      ASSERT_EQ(chosen != ranked.end(), expected.has_value());
      if (expected) {
        ASSERT_EQ(chosen->partition, *expected);
      }
    }
  }
}

}  // namespace
}  // namespace farvec::paged
