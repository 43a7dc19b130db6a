// Searches that compare the query with every row, in each layout and from each kind of tier.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "search/core/search_core.h"
#include "tests/unit/search/cluster_fixture.h"
#include "tests/unit/search/graph_fixture.h"
#include "tests/unit/search/integer_graph.h"
#include "transport/faulty/faulty_endpoint.h"

namespace farvec::search {
namespace {

constexpr std::size_t kQueries = 8;

/// With the shortest list that there is: it does not matter.
class ExactFeed : public AmongFeed {
 public:
  explicit ExactFeed(const IntegerGraph& graph, std::span<const NodeId> only = {})
      : AmongFeed(graph, kQueries, only) {
    for (auto& task : tasks()) {
      task.request.parameters =
          SearchParameters::make(kWanted, GraphChoice{.list = kWanted}).value();
      task.request.exact = true;
    }
  }
};

class ExactGraphSearch : public testing::TestWithParam<LayoutKind> {
 protected:
  std::vector<std::unique_ptr<SearchCore>> cores() const {
    std::vector<std::unique_ptr<SearchCore>> all;
    all.push_back(make_core(small_.index(), small_.region(), graph_core_options(3)));
    all.push_back(make_core(small_.index(), small_.endpoint(), graph_core_options(3)));
    return all;
  }

  const IntegerGraph small_{Metric::inner_product, GetParam()};
  const std::vector<NodeId> all_ = rows_of(kRowCount);
};

INSTANTIATE_TEST_SUITE_P(Layouts, ExactGraphSearch,
                         testing::Values(LayoutKind::csr, LayoutKind::padded, LayoutKind::inlined,
                                         LayoutKind::packed),
                         [](const auto& kind) {
                           return std::string(layout::to_string(kind.param));
                         });

TEST_P(ExactGraphSearch, ReadsEveryRowAndEstimatesNone) {
  for (const auto& core : cores()) {
    ExactFeed feed(small_);
    core->run(feed);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const auto& task = feed.tasks()[q];
      expect_nearest(task, small_.nearest(q, all_));
      const QueryCounts& counts = task.answer.counts;
      EXPECT_EQ(counts.reads, kRowCount);
      EXPECT_EQ(counts.distances, kRowCount);
      EXPECT_EQ(counts.estimates + counts.hops + counts.walks, 0u);
      EXPECT_EQ(counts.scans, 1u);
    }
  }
}

TEST_P(ExactGraphSearch, FindsNoRowThatIsOut) {
  const RowSet out = RowSet().with(rows_of(450, 77));
  std::vector<NodeId> left;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(left),
               [&](NodeId row) { return !out.contains(row); });
  for (const auto& core : cores()) {
    ExactFeed feed(small_);
    for (auto& task : feed.tasks()) task.request.out = &out;
    core->run(feed);
    for (std::size_t q = 0; q < kQueries; ++q) {
      expect_nearest(feed.tasks()[q], small_.nearest(q, left));
    }
  }
}

/// Codes would choose 10 of these for the list.
TEST_P(ExactGraphSearch, AmongSomeRowsReadsAllOfThem) {
  const std::vector<NodeId> some = rows_of(200);
  for (const auto& core : cores()) {
    ExactFeed feed(small_, some);
    core->run(feed);
    for (std::size_t q = 0; q < kQueries; ++q) {
      expect_nearest(feed.tasks()[q], small_.nearest(q, some));
      EXPECT_EQ(feed.tasks()[q].answer.counts.distances, some.size());
      EXPECT_EQ(feed.tasks()[q].answer.counts.estimates, 0u);
    }
  }
}

TEST_P(ExactGraphSearch, WhatIsDamagedIsNotScored) {
  transport::FaultOptions faults;
  faults.flip_rate = 0.0005;
  ExactFeed feed(small_);
  make_core(small_.index(), std::make_unique<transport::FaultyEndpoint>(small_.endpoint(), faults),
            graph_core_options(2))
      ->run(feed);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  for (std::size_t q = 0; q < kQueries; ++q) {
    if (feed.tasks()[q].answer.status.ok()) {
      expect_nearest(feed.tasks()[q], small_.nearest(q, all_));
    }
  }
}

class ExactClusterSearch : public testing::TestWithParam<ClusterLayoutKind> {
 protected:
  static std::vector<std::unique_ptr<SearchCore>> cores() {
    const SmallClusters& small = small_clusters();
    std::vector<std::unique_ptr<SearchCore>> all;
    all.push_back(make_core(small.index(GetParam()), small.region(GetParam()), with_slots(2)));
    all.push_back(
        make_core(small.index(GetParam()), small.endpoint(GetParam()), with_slots(3, 50)));
    return all;
  }
  /// One cluster is asked for, and of coded ones the 10 nearest by their codes.
  static Feed asked(const RowSet* out) {
    Feed feed(small_clusters(), kQueries, {.clusters = 1});
    for (auto& task : feed.tasks()) {
      task.request.parameters =
          SearchParameters::make(10, ProbeChoice{.clusters = 1, .list = 10}).value();
      task.request.exact = true;
      task.request.out = out;
    }
    return feed;
  }
  /// A probe of every cluster is a comparison with all members.
  static std::vector<graph::Neighbor> nearest(const Feed::Task& task) {
    Feed all(small_clusters(), 1, {.clusters = kClusters});
    Feed::Task& every = all.tasks().front();
    every.request.query = task.request.query;
    every.request.out = task.request.out;
    return nearest_members(small_clusters(), every);
  }
};

INSTANTIATE_TEST_SUITE_P(Layouts, ExactClusterSearch, testing::ValuesIn(layout::kClusterLayouts));

TEST_P(ExactClusterSearch, ReadsAllClustersAndRanksNone) {
  for (const auto& core : cores()) {
    Feed feed = asked(nullptr);
    core->run(feed);
    for (const auto& task : feed.tasks()) {
      expect_answer(task, nearest(task));
      const QueryCounts& counts = task.answer.counts;
      EXPECT_EQ(counts.clusters, kClusters);
      EXPECT_EQ(counts.distances, kCount);
      EXPECT_EQ(counts.centroid_distances + counts.centroid_estimates, 0u);
    }
  }
}

TEST_P(ExactClusterSearch, FindsNoRowThatIsOut) {
  std::vector<NodeId> gone;
  for (NodeId row = 0; row < kCount; ++row) {
    if (row % 3 != 1) gone.push_back(row);
  }
  const RowSet out = RowSet().with(gone);
  for (const auto& core : cores()) {
    Feed feed = asked(&out);
    core->run(feed);
    for (const auto& task : feed.tasks()) expect_answer(task, nearest(task));
  }
}

/// A list of every vector is as exact, and has an end, though vectors are in several clusters.
TEST_P(ExactClusterSearch, AListOfEveryVectorEndsWhereRowsAreOut) {
  const RowSet out = RowSet().with(std::vector<NodeId>{5, 700, 2000});
  for (const auto& core : cores()) {
    Feed feed = asked(&out);
    for (auto& task : feed.tasks()) {
      task.request.exact = false;
      task.request.parameters =
          SearchParameters::make(10, ProbeChoice{.clusters = kClusters, .list = kCount}).value();
    }
    core->run(feed);
    for (const auto& task : feed.tasks()) expect_answer(task, nearest(task));
  }
}

}  // namespace
}  // namespace farvec::search
