// Searches of clusters that know where the rows are that meet a condition.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/row_set.h"
#include "cluster/cluster_matches.h"
#include "tests/unit/search/cluster_fixture.h"

namespace farvec::search {
namespace {

/// The rows that match, the others, and where the former are.
struct Matching {
  std::vector<NodeId> rows;
  RowSet others;
  cluster::ClusterMatches matches;
};

class ClusterMatching : public testing::TestWithParam<ClusterLayoutKind> {
 protected:
  using MakeCore = std::function<std::unique_ptr<SearchCore>()>;

  ClusterMatching()
      : index_(load_search_index(layout::IndexDirectory::open(small_clusters().path(GetParam())),
                                 {.threads = 1, .quiet = true})) {
    index_.find_rows(small_clusters().region(GetParam()));
  }

  /// By loads, by reads, and by reads that bring where the records lie.
  std::vector<MakeCore> makers() const {
    return {
        [this] { return make_core(index_, small_clusters().region(GetParam()), with_slots(3)); },
        [this] {
          return make_core(index_, small_clusters().endpoint(GetParam()), with_slots(4, 100));
        },
        [this] {
          return make_core(index_, small_clusters().endpoint(GetParam(), {.by_reference = true}),
                           with_slots(2));
        }};
  }

  Matching matching(const std::vector<NodeId>& rows) const {
    std::vector<NodeId> others;
    for (NodeId row = 0; row < kCount; ++row) {
      if (!std::binary_search(rows.begin(), rows.end(), row)) others.push_back(row);
    }
    return {rows, RowSet().with(others), index_.clusters()->matches(rows).value()};
  }
  /// The nearest or the farthest rows of the first query.
  Matching by_distance(std::size_t count, bool nearest) const {
    const auto kernel = distance::pair_kernel(Metric::l2, ElementType::u8, kDimension);
    std::vector<std::pair<float, NodeId>> all;
    for (NodeId row = 0; row < kCount; ++row) {
      const float far = kernel(small_clusters().row(0), small_clusters().row(row), kDimension);
      all.emplace_back(nearest ? far : -far, row);
    }
    std::sort(all.begin(), all.end());
    std::vector<NodeId> rows;
    for (std::size_t i = 0; i < count; ++i) rows.push_back(all[i].second);
    std::sort(rows.begin(), rows.end());
    return matching(rows);
  }
  static std::vector<NodeId> random_rows(std::size_t count) {
    Random random(count + 1);
    std::vector<NodeId> rows;
    for (NodeId row = 0; row < kCount; ++row) {
      const auto left = static_cast<double>(kCount - row);
      if (random.uniform() * left < static_cast<double>(count - rows.size())) rows.push_back(row);
    }
    return rows;
  }

  static Feed feed(const Matching& matching, std::size_t searches, std::uint32_t clusters) {
    Feed feed(small_clusters(), searches, {.clusters = clusters});
    for (auto& task : feed.tasks()) {
      task.request.out = &matching.others;
      task.request.matches = &matching.matches;
    }
    return feed;
  }

  static bool reads_one_by_one() { return GetParam() != ClusterLayoutKind::coupled; }
  /// All clusters; so all rows.
  static std::vector<graph::Neighbor> nearest_of(Feed::Task& task) {
    task.request.parameters =
        SearchParameters::make(10, ProbeChoice{.clusters = kClusters}).value();
    return nearest_members(small_clusters(), task);
  }

  SearchIndex index_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, ClusterMatching, testing::ValuesIn(layout::kClusterLayouts),
                         [](const auto& kind) {
                           std::string name(layout::to_string(kind.param));
                           std::erase(name, '-');
                           return name;
                         });

/// Every row is at one home, which is one of its clusters, and has a place of its own.
TEST_P(ClusterMatching, SayWhereRowsAre) {
  const Matching some = matching(random_rows(kCount / 3));
  ASSERT_EQ(some.matches.ends.size(), kClusters);
  EXPECT_EQ(some.matches.count(), some.rows.size());
  EXPECT_EQ(some.matches.has_places(), reads_one_by_one());
  std::uint32_t holding = 0;
  for (ClusterId c = 0; c < kClusters; ++c) holding += some.matches.count_of(c) > 0 ? 1 : 0;
  EXPECT_EQ(some.matches.holding, holding);
  for (const NodeId row : some.rows) {
    const auto alone = index_.clusters()->matches(std::vector{row}).value();
    ClusterId home = 0;
    while (alone.count_of(home) == 0) ++home;
    const auto own = small_clusters().membership().of(row);
    EXPECT_NE(std::find(own.begin(), own.end(), home), own.end()) << row;
    if (!reads_one_by_one()) continue;
    const layout::ClusterLocator& locator = index_.clusters()->locator();
    const auto record =
        small_clusters()
            .region(GetParam())
            .subspan(locator.offset_of(alone.places.at(0)), locator.geometry().record_bytes());
    EXPECT_EQ(load_unaligned<NodeId>(record.data() + kDimension), row);
    const auto places = some.matches.places_of(home);
    EXPECT_TRUE(std::binary_search(places.begin(), places.end(), alone.places[0])) << row;
  }
}

/// Some of them are few enough to be compared, and the others lie in all clusters.
TEST_P(ClusterMatching, AreFoundAsManyAsThereAre) {
  for (const std::size_t count : {0u, 1u, 9u, 10u, 11u, 79u, 80u, 81u, 300u, 1500u, 2999u}) {
    const Matching some = matching(random_rows(count));
    for (const MakeCore& make : makers()) {
      Feed searches = feed(some, 20, 1);
      make()->run(searches);
      for (const auto& task : searches.tasks()) {
        ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
        ASSERT_EQ(task.answer.found, std::min<std::size_t>(10, count)) << count;
        for (std::uint32_t i = 0; i < task.answer.found; ++i) {
          EXPECT_FALSE(some.others.contains(static_cast<NodeId>(task.id_room[i])));
        }
      }
    }
  }
}

TEST_P(ClusterMatching, AreAllComparedWhereTheyAreFew) {
  const Matching few = matching(random_rows(80));
  for (const MakeCore& make : makers()) {
    Feed searches = feed(few, 20, 1);
    make()->run(searches);
    for (auto& task : searches.tasks()) {
      EXPECT_EQ(task.answer.counts.clusters, few.matches.holding);
      EXPECT_EQ(task.answer.counts.centroid_distances, 0u) << "no cluster has to be chosen";
      if (reads_one_by_one()) {
        EXPECT_EQ(task.answer.counts.distances, 80u);
      }
      expect_answer(task, nearest_of(task));
    }
  }
}

/// No read brings a row that does not match, where no two matches share a read.
TEST_P(ClusterMatching, AreTheOnlyRowsThatAreRead) {
  if (!reads_one_by_one()) GTEST_SKIP() << "coupled clusters are read whole";
  const Matching some = matching(random_rows(700));
  const std::uint32_t record = index_.clusters()->locator().geometry().record_bytes();
  Feed searches = feed(some, 20, 2);
  make_core(index_, small_clusters().region(GetParam()), with_slots(3))->run(searches);
  for (const auto& task : searches.tasks()) {
    const QueryCounts& counts = task.answer.counts;
    EXPECT_EQ(counts.group_reads, 0u);
    EXPECT_EQ(counts.stray_reads, counts.distances);
    EXPECT_EQ(counts.reads, counts.stray_reads + counts.list_reads);
    EXPECT_LT(counts.distances, 700u);
    if (counts.list_reads == 0) {
      EXPECT_EQ(counts.bytes, counts.distances * record);
    }
  }
}

/// The nearest clusters have none of them.
TEST_P(ClusterMatching, AreFoundFarFromTheQuery) {
  for (const bool nearest : {false, true}) {
    for (const std::size_t count : {100u, 1000u, 2000u}) {
      const Matching together = by_distance(count, nearest);
      for (const MakeCore& make : makers()) {
        Feed searches = feed(together, 1, 4);
        make()->run(searches);
        auto& task = searches.tasks()[0];
        EXPECT_LE(task.answer.counts.clusters, together.matches.holding);
        if (count == 100) expect_answer(task, nearest_of(task));
        EXPECT_EQ(task.answer.found, 10u);
      }
    }
  }
}

/// Half of the rows, a tenth, a hundredth: with as many clusters as find most without a condition.
TEST_P(ClusterMatching, AreFoundWithTheRecallOfOtherSearches) {
  for (const std::size_t count : {kCount / 5 * 4, kCount / 2, kCount / 10, kCount / 100}) {
    const Matching some = matching(random_rows(count));
    Feed searches = feed(some, 100, 10);
    makers()[0]()->run(searches);
    std::size_t found = 0;
    for (auto& task : searches.tasks()) {
      const auto expected = nearest_of(task);
      for (std::uint32_t i = 0; i < task.answer.found; ++i) {
        found += task.distance_room[i] <= expected.back().distance ? 1 : 0;
      }
    }
    EXPECT_GE(found, 950u) << count;
  }
}

/// The whole region says where rows are; a damaged one is not believed.
TEST_P(ClusterMatching, AreNotLearnedFromADamagedRegion) {
  const layout::ClusterLocator& locator = index_.clusters()->locator();
  const auto region = small_clusters().region(GetParam());
  std::vector<std::byte> damaged(region.begin(), region.end());
  ClusterId cluster = 0;
  const bool lists = GetParam() == ClusterLayoutKind::decoupled;
  while ((lists ? locator.list(cluster).bytes : locator.group(cluster).bytes) == 0) ++cluster;
  const std::uint64_t at =
      lists ? locator.list(cluster).offset : locator.group(cluster).offset + kDimension;
  damaged[at + (lists ? 0 : 3)] ^= std::byte{0x70};
  EXPECT_THROW(index_.find_rows(damaged), Error);
  EXPECT_THROW(index_.find_rows(std::span(damaged).first(damaged.size() / 2)), Error);
}

}  // namespace
}  // namespace farvec::search
