// Searches by cores of graphs and clusters of which some rows are out.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/row_set.h"
#include "layout/graph/record_reader.h"
#include "search/core/search_core.h"
#include "tests/unit/search/cluster_fixture.h"
#include "tests/unit/search/graph_fixture.h"
#include "transport/emulated/device.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::search {
namespace {

/// Each of `count` rows with this probability, and none of `kept`.
RowSet some_rows(std::size_t count, double share, const std::vector<NodeId>& kept = {}) {
  Random random(19);
  std::vector<NodeId> rows;
  for (NodeId row = 0; row < count; ++row) {
    const bool taken = random.uniform() < share;
    if (taken && std::find(kept.begin(), kept.end(), row) == kept.end()) rows.push_back(row);
  }
  return RowSet().with(rows);
}

const std::vector<NodeId> kFew = {3, 400, 401, 777, 1200, 1900, 1999};

class GraphRowsOut : public testing::TestWithParam<layout::LayoutKind> {
 protected:
  using MakeCore = std::function<std::unique_ptr<SearchCore>(SearchCoreOptions)>;

  /// By loads, by loads of a device, by reads, with a cache, of a device.
  std::vector<MakeCore> makers() const {
    const auto rdma = std::make_shared<transport::Device>(transport::parse_device_model("rdma"));
    const auto cxl = std::make_shared<transport::Device>(transport::parse_device_model("cxl"));
    return {[this](const SearchCoreOptions& options) {
              return make_core(small_.index(), small_.region(), options);
            },
            [this, cxl](SearchCoreOptions options) {
              options.device = cxl;
              return make_core(small_.index(), small_.region(), options);
            },
            [this](const SearchCoreOptions& options) {
              return make_core(small_.index(), small_.endpoint(), options);
            },
            [this](SearchCoreOptions options) {
              options.cache_bytes = 64 << 10;
              return make_core(small_.index(), small_.endpoint(), options);
            },
            [this, rdma](const SearchCoreOptions& options) {
              return make_core(
                  small_.index(),
                  std::make_unique<transport::EmulatedEndpoint>(small_.endpoint(), rdma), options);
            }};
  }
  static constexpr std::size_t kMany = 200;

  GraphFeed feed(std::uint32_t k, std::uint32_t list, const RowSet* out,
                 std::size_t count = 20) const {
    GraphFeed made(small_, count);
    for (auto& task : made.tasks()) {
      task.request.parameters = SearchParameters::make(k, GraphChoice{.list = list}).value();
      task.request.out = out;
    }
    return made;
  }
  /// The k nearest of all rows that are not out.
  std::vector<graph::Neighbor> nearest(const std::byte* query, const RowSet& out,
                                       std::size_t k) const {
    const auto kernel = distance::pair_kernel(Metric::l2, ElementType::u8, kGraphDimension);
    std::vector<graph::Neighbor> all;
    for (NodeId row = 0; row < kGraphCount; ++row) {
      if (!out.contains(row)) {
        all.push_back({row, kernel(query, small_.query(row), kGraphDimension)});
      }
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
    });
    all.resize(std::min(all.size(), k));
    return all;
  }
  /// The rows nearest to the first query.
  RowSet near_rows(std::size_t count) const {
    std::vector<NodeId> rows;
    for (const auto& near : nearest(small_.query(0), RowSet(), count)) rows.push_back(near.id);
    return RowSet().with(rows);
  }
  /// By the distances, so that it does not matter which of several equal ones were found.
  double recall(GraphFeed& searches, const RowSet& out) const {
    std::size_t found = 0;
    for (const auto& task : searches.tasks()) {
      const auto truth = nearest(task.request.query, out, 10);
      for (std::uint32_t i = 0; i < task.answer.found; ++i) {
        found += task.distance_room[i] <= truth.back().distance ? 1 : 0;
      }
    }
    return static_cast<double>(found) / (10.0 * static_cast<double>(searches.tasks().size()));
  }
  static void expect_found(const GraphFeed::Task& task,
                           const std::vector<graph::Neighbor>& expected) {
    ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
    ASSERT_EQ(task.answer.found, expected.size());
    for (std::uint32_t i = 0; i < task.answer.found; ++i) {
      EXPECT_EQ(task.id_room[i], expected[i].id) << i;
      EXPECT_EQ(task.distance_room[i], expected[i].distance) << i;
    }
  }

  const SmallGraph small_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Layouts, GraphRowsOut,
                         testing::Values(layout::LayoutKind::csr, layout::LayoutKind::padded,
                                         layout::LayoutKind::inlined, layout::LayoutKind::packed),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

/// The vectors of rows that are out are other bytes, and nothing changes: they are never read.
TEST_P(GraphRowsOut, AreReadForTheirNeighboursAlone) {
  const layout::GraphLocator& locator = small_.index().graph()->locator();
  const bool apart =
      GetParam() == layout::LayoutKind::csr || GetParam() == layout::LayoutKind::packed;
  ASSERT_EQ(locator.has_lists_alone(), apart);
  if (!apart) return;
  const RowSet out = some_rows(kGraphCount, 0.7);
  HugeBuffer poisoned(small_.region().size());
  std::copy(small_.region().begin(), small_.region().end(), poisoned.data());
  layout::RecordReader records(locator, small_.region());
  std::vector<NodeId> vertices;
  for (NodeId v = 0; v < kGraphCount; ++v) {
    const NodeRecord record = records.read(v);
    if (!out.contains(record.row == kInvalidNode ? v : record.row)) continue;
    vertices.push_back(v);
    std::fill_n(poisoned.data() + (record.vector - small_.region().data()), kGraphDimension,
                std::byte{0xff});
  }
  const RowSet out_vertices = RowSet().with(vertices);
  for (const bool by_loads : {true, false}) {
    GraphFeed whole = feed(10, 40, &out);
    GraphFeed parts = feed(10, 40, &out);
    for (auto& task : parts.tasks()) task.request.out_vertices = &out_vertices;
    make_core(small_.index(), small_.region(), graph_core_options(3))->run(whole);
    transport::RegionSet set;
    set.push_back(transport::MappedRegion::borrow(poisoned.span()));
    auto endpoint = std::make_unique<transport::MappedEndpoint>(
        std::make_shared<const transport::RegionSet>(std::move(set)),
        transport::MappedOptions{.max_outstanding = 64});
    const auto core = by_loads
                          ? make_core(small_.index(), poisoned.span(), graph_core_options(3))
                          : make_core(small_.index(), std::move(endpoint), graph_core_options(3));
    core->run(parts);
    for (std::size_t i = 0; i < parts.tasks().size(); ++i) {
      const SearchAnswer& answer = parts.tasks()[i].answer;
      expect_same_search(parts.tasks()[i], whole.tasks()[i]);
      EXPECT_GT(answer.counts.bridges, 0u);
      EXPECT_EQ(answer.counts.reads, answer.counts.bridges + answer.counts.distances);
      const std::uint64_t lists = answer.counts.bridges * kGraphDimension;
      EXPECT_LE(answer.counts.bytes + lists,
                answer.counts.reads * locator.geometry().max_record_bytes());
    }
  }
}

/// Nothing is out of `live`, which has the rows of small_ that are not in `out`. At every list the
/// search of the whole finds as much, on every core.
TEST_P(GraphRowsOut, AnIndexWithoutThemFindsNoMore) {
  for (const RowSet& out : {some_rows(kGraphCount, 0.1), some_rows(kGraphCount, 0.5),
                            some_rows(kGraphCount, 0.9), near_rows(600)}) {
    const SmallGraph live(GetParam(), out);
    for (const std::uint32_t list : {20u, 60u}) {
      GraphFeed alone(small_, kMany);
      for (std::size_t i = 0; i < alone.tasks().size(); ++i) {
        alone.tasks()[i].request.query = small_.query(i);
        alone.tasks()[i].request.parameters =
            SearchParameters::make(10, GraphChoice{.list = list}).value();
      }
      make_core(live.index(), live.region(), graph_core_options(3))->run(alone);
      const double expected = recall(alone, out);
      std::uint64_t hops = 0;
      for (const MakeCore& make : makers()) {
        GraphFeed searches = feed(10, list, &out, kMany);
        for (auto& task : searches.tasks()) task.request.count_lines = hops > 0;
        make(graph_core_options(3))->run(searches);
        EXPECT_GE(recall(searches, out), expected - 0.01) << out.count() << " at list " << list;
        std::uint64_t all_hops = 0;
        for (const auto& task : searches.tasks()) {
          EXPECT_EQ(task.answer.found, 10u);
          EXPECT_LE(task.answer.counts.hops, kGraphCount);
          all_hops += task.answer.counts.hops;
        }
        EXPECT_TRUE(hops == 0 || all_hops == hops) << "on every core alike";
        hops = all_hops;
      }
    }
  }
}

TEST_P(GraphRowsOut, AListOfAllVerticesFindsTheNearestOfTheOthers) {
  // The entries are among those that are out.
  std::vector<NodeId> rows(small_.index().graph()->entries().begin(),
                           small_.index().graph()->entries().end());
  const RowSet half = some_rows(kGraphCount, 0.5).with(rows);
  SearchCoreOptions options = graph_core_options(4);
  options.max_list = kGraphCount;
  for (const MakeCore& make : makers()) {
    GraphFeed searches = feed(40, kGraphCount, &half);
    make(options)->run(searches);
    for (const auto& task : searches.tasks())
      expect_found(task, nearest(task.request.query, half, 40));
  }
}

TEST_P(GraphRowsOut, AreNoneOfTheResultsWhenAllAreOut) {
  const RowSet all = some_rows(kGraphCount, 2);
  ASSERT_EQ(all.count(), kGraphCount);
  for (const MakeCore& make : makers()) {
    GraphFeed searches = feed(10, 30, &all);
    make(graph_core_options(2))->run(searches);
    for (const auto& task : searches.tasks()) {
      expect_found(task, {});
      EXPECT_EQ(task.answer.counts.reads + task.answer.counts.cache_hits, 0u)
          << "nothing to look for";
    }
  }
}

/// More are wanted than there are, and no list may be longer than ten.
TEST_P(GraphRowsOut, AShortListFindsAllThatIsLeft) {
  const RowSet most = some_rows(kGraphCount, 2, kFew);
  SearchCoreOptions options = graph_core_options(4);
  options.max_list = 10;
  for (const MakeCore& make : makers()) {
    GraphFeed searches = feed(10, 10, &most);
    make(options)->run(searches);
    for (const auto& task : searches.tasks())
      expect_found(task, nearest(task.request.query, most, 10));
  }
}

TEST_P(GraphRowsOut, AnEmptySetIsAsNone) {
  const RowSet none;
  GraphFeed with = feed(10, 10, &none);
  GraphFeed without = feed(10, 10, nullptr);
  for (GraphFeed* each : {&with, &without}) {
    make_core(small_.index(), small_.region(), graph_core_options(4))->run(*each);
  }
  for (std::size_t i = 0; i < 20; ++i) expect_same_search(with.tasks()[i], without.tasks()[i]);
}

class ClusterRowsOut : public testing::TestWithParam<ClusterLayoutKind> {
 protected:
  using MakeCore = std::function<std::unique_ptr<SearchCore>()>;

  /// By loads, by reads, and by reads that bring where the records lie.
  static std::vector<MakeCore> makers() {
    return {[] { return make_core(index(), small_clusters().region(GetParam()), with_slots(3)); },
            [] {
              return make_core(index(), small_clusters().endpoint(GetParam()), with_slots(4, 100));
            },
            [] {
              return make_core(index(),
                               small_clusters().endpoint(GetParam(), {.by_reference = true}),
                               with_slots(2));
            }};
  }
  static const SearchIndex& index() { return small_clusters().index(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Layouts, ClusterRowsOut, testing::ValuesIn(layout::kClusterLayouts),
                         [](const auto& kind) {
                           std::string name(layout::to_string(kind.param));
                           std::erase(name, '-');
                           return name;
                         });

/// Of members of which half are out, about twice as many clusters are probed.
TEST_P(ClusterRowsOut, TheNearestOfTheOtherMembersAreFound) {
  const RowSet half = some_rows(kCount, 0.5);
  for (const bool dedup : {true, false}) {
    for (const MakeCore& make : makers()) {
      Feed searches(small_clusters(), 40, {.clusters = 6, .dedup = dedup});
      for (auto& task : searches.tasks()) task.request.out = &half;
      make()->run(searches);
      for (auto& task : searches.tasks()) {
        EXPECT_GE(task.answer.counts.clusters, 9u);
        EXPECT_LE(task.answer.counts.clusters, 15u);
        const auto clusters = static_cast<std::uint32_t>(task.answer.counts.clusters);
        task.request.parameters =
            SearchParameters::make(10, ProbeChoice{.clusters = clusters}).value();
        expect_answer(task, nearest_members(small_clusters(), task));
      }
    }
  }
}

/// The clusters of some queries have no members but those that are out.
TEST_P(ClusterRowsOut, ThatLieTogetherHideNothing) {
  ProbeChoice all{.clusters = kClusters};
  Feed near(small_clusters(), 1, all);
  near.tasks()[0].request.parameters = SearchParameters::make(10, all).value();
  std::vector<NodeId> rows;
  cluster::CentroidScratch scratch;
  index().clusters()->centroids().search(near.tasks()[0].request.query, 20, scratch);
  for (const auto& found : scratch.found) {
    for (NodeId row = 0; row < kCount; ++row) {
      const auto own = small_clusters().membership().of(row);
      if (std::find(own.begin(), own.end(), found.cluster) != own.end()) rows.push_back(row);
    }
  }
  const RowSet out = RowSet().with(rows);
  for (const std::uint32_t clusters : {1u, 4u}) {
    for (const MakeCore& make : makers()) {
      Feed searches(small_clusters(), 40, {.clusters = clusters});
      for (auto& task : searches.tasks()) task.request.out = &out;
      make()->run(searches);
      EXPECT_GT(searches.tasks()[0].answer.counts.clusters, 20u);
      for (auto& task : searches.tasks()) {
        EXPECT_LE(task.answer.counts.clusters, kClusters);
        const auto probed = static_cast<std::uint32_t>(task.answer.counts.clusters);
        task.request.parameters =
            SearchParameters::make(10, ProbeChoice{.clusters = probed}).value();
        ASSERT_EQ(task.answer.found, 10u);
        expect_answer(task, nearest_members(small_clusters(), task));
      }
    }
  }
}

/// One cluster, a list of one: both grow until all that are left were found.
TEST_P(ClusterRowsOut, AsManyAreFoundAsThereAre) {
  for (const RowSet& out : {some_rows(kCount, 0.9), some_rows(kCount, 2, kFew)}) {
    for (const MakeCore& make : makers()) {
      Feed searches(small_clusters(), 40, {.clusters = 1, .list = 1});
      for (auto& task : searches.tasks()) {
        task.request.out = &out;
        task.request.parameters =
            SearchParameters::make(10, ProbeChoice{.clusters = 1, .list = 1}).value();
      }
      make()->run(searches);
      for (const auto& task : searches.tasks()) {
        EXPECT_EQ(task.answer.found, std::min<std::uint64_t>(10, kCount - out.count()));
      }
    }
  }
}

TEST_P(ClusterRowsOut, NoneIsFoundWhenAllAreOut) {
  const RowSet all = some_rows(kCount, 2);
  for (const MakeCore& make : makers()) {
    Feed searches(small_clusters(), 10, {.clusters = 3});
    for (auto& task : searches.tasks()) task.request.out = &all;
    make()->run(searches);
    for (const auto& task : searches.tasks()) {
      expect_answer(task, {});
      EXPECT_EQ(task.answer.counts.clusters, 3u) << "nothing to look farther for";
    }
  }
}

TEST_P(ClusterRowsOut, MoreClustersAreProbedForWhatIsLeft) {
  const RowSet most = some_rows(kCount, 2, kFew);
  for (const MakeCore& make : makers()) {
    Feed searches(small_clusters(), 10, {.clusters = 1});
    for (auto& task : searches.tasks()) task.request.out = &most;
    make()->run(searches);
    for (auto& task : searches.tasks()) {
      EXPECT_LE(task.answer.counts.clusters, kClusters);
      // All that are left lie in some cluster.
      task.request.parameters =
          SearchParameters::make(10, ProbeChoice{.clusters = kClusters}).value();
      expect_answer(task, nearest_members(small_clusters(), task));
      EXPECT_EQ(task.answer.found, kFew.size());
    }
  }
}

}  // namespace
}  // namespace farvec::search
