#include "ssd_baseline/paged/change/hnsw_vacuum.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

class HnswVacuumTest : public ::testing::Test {
 protected:
  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config();
  const Rows rows_{2000, config_};
  const Rows queries_{40, config_, 9};
};

TEST_F(HnswVacuumTest, TakesMarkedVerticesAwayAndKeepsRecall) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 1000);
  const auto left = [](NodeId id) { return id < 1000 && id % 2 == 0; };
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 1; id < 1000; id += 2) delete_id(writer, id);
    const HnswVacuumCounts done = run_vacuum(*hnsw, fetcher);
    EXPECT_EQ(done.removed, 500u);
    EXPECT_GT(done.repaired, 400u);
    EXPECT_EQ(done.retries, 0u);
  });
  expect_sound(*hnsw, 500);
  const HnswCheckReport report = check_hnsw(*hnsw);
  EXPECT_EQ(report.marked, 0u);
  EXPECT_GT(report.free_list_pages, 0u);
  EXPECT_GT(recall_of(*hnsw, rows_, queries_, 40, left), 0.97);
}

TEST_F(HnswVacuumTest, FreesPlacesThatLaterInsertsTake) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 1000);
  const PageNumber before = hnsw->store().pages();
  NodeId next = 1000;
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (int round = 0; round < 5; ++round) {
      for (NodeId id = next - 1000; id < next - 800; ++id) delete_id(writer, id);
      EXPECT_EQ(run_vacuum(*hnsw, fetcher).removed, 200u);
      for (NodeId end = next + 200; next < end; ++next) insert_row(writer, rows_, next);
    }
  });
  expect_sound(*hnsw, 1000);
  // Levels of those that come are not those of who went: a page or two, not five times 200 rows.
  EXPECT_LE(hnsw->store().pages(), before + 4);
  const auto there = [](NodeId id) { return id >= 1000 && id < 2000; };
  EXPECT_GT(recall_of(*hnsw, rows_, queries_, 40, there), 0.97);
}

TEST_F(HnswVacuumTest, OneAtATime) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 300);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 0; id < 100; ++id) delete_id(writer, id);
    HnswVacuum second(*hnsw, fetcher);
    {
      HnswVacuum first(*hnsw, fetcher);
      EXPECT_TRUE(first.step(kPatient).ok());
      EXPECT_EQ(second.step(kPatient).status().code(), StatusCode::resource_exhausted);
      EXPECT_TRUE(first.step(kPatient).ok());
    }
    EXPECT_TRUE(second.step(kPatient).ok());
    for (auto more = second.step(kPatient); more.value(); more = second.step(kPatient)) {
    }
    EXPECT_EQ(second.done().removed, 100u);
    // It has ended: whoever comes may begin.
    EXPECT_EQ(run_vacuum(*hnsw, fetcher).removed, 0u);
  });
  expect_sound(*hnsw, 200);
}

/// Of the graph after five rounds, each of which deletes the oldest fifth of 1,000 rows and inserts
/// as many; and of one that is built of the rows that are left.
std::pair<double, double> turned_over_and_built(const Rows& rows, const Rows& queries,
                                                const HnswConfig& config) {
  const tests::TemporaryFolder folder;
  const auto hnsw = make_paged(store_options(folder), config, rows, 1000);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId gone = 0; gone < 1000; gone += 200) {
      for (NodeId id = gone; id < gone + 200; ++id) delete_id(writer, id);
      EXPECT_GT(run_vacuum(*hnsw, fetcher).edges_back, 0u);
      for (NodeId id = gone + 1000; id < gone + 1200; ++id) insert_row(writer, rows, id);
    }
  });
  expect_sound(*hnsw, 1000);
  Rows left(0, config);
  left.bytes.assign(rows.row(1000).data(), rows.bytes.data() + rows.bytes.size());
  const tests::TemporaryFolder other;
  const auto built = make_paged(store_options(other), config, left, 1000);
  return {recall_of(*hnsw, rows, queries, 40, [](NodeId id) { return id >= 1000; }),
          recall_of(*built, left, queries, 40, [](NodeId) { return true; })};
}

TEST_F(HnswVacuumTest, ClustersFarApartStayConnectedUnderTurnover) {
  double turned_over = 0;
  double built = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Rows rows(2000, config_, seed, kCentersFar);
    // Queries between the clusters: a search has to find its way from one to another.
    const Rows queries(40, config_, seed + 100, kCentersFar);
    const auto [of_turned_over, of_built] = turned_over_and_built(rows, queries, config_);
    turned_over += of_turned_over;
    built += of_built;
  }
  EXPECT_GE(turned_over, 0.9 * built) << "means of " << turned_over / 4 << ", " << built / 4;
  RecordProperty("turned_over", std::to_string(turned_over / 4));
  RecordProperty("built", std::to_string(built / 4));
}

TEST_F(HnswVacuumTest, OfAllVerticesLeavesAnEmptyGraph) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 300);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 0; id < 300; ++id) delete_id(writer, id);
    EXPECT_EQ(run_vacuum(*hnsw, fetcher).removed, 300u);
    HnswSearcher searcher(*hnsw, fetcher);
    EXPECT_TRUE(answer(searcher, rows_.row(0), 10).empty());
    EXPECT_EQ(run_vacuum(*hnsw, fetcher).removed, 0u);
    for (NodeId id = 0; id < 300; ++id) insert_row(writer, rows_, id);
  });
  expect_sound(*hnsw, 300);
  EXPECT_GT(recall_of(*hnsw, rows_, queries_, 40, [](NodeId id) { return id < 300; }), 0.97);
}

TEST_F(HnswVacuumTest, MovesTheEntry) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 1000);
  const std::uint32_t top = hnsw->describe().state.entry_level;
  ASSERT_GT(top, 1u);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 0; id < 1000; ++id) {
      if (graph::level_of(hnsw->levels(), id) == top) delete_id(writer, id);
    }
    run_vacuum(*hnsw, fetcher);
  });
  EXPECT_EQ(hnsw->describe().state.entry_level, top - 1);
  EXPECT_TRUE(check_hnsw(*hnsw).ok());
}

TEST_F(HnswVacuumTest, ManyRoundsWhenFewAreTakenAtOnce) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 300);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 0; id < 100; ++id) delete_id(writer, id);
    EXPECT_EQ(run_vacuum(*hnsw, fetcher, {{}, 7}).removed, 100u);
  });
  expect_sound(*hnsw, 200);
}

/// In a graph of two edges to a vertex many a vertex loses the last one that leads to it.
TEST_F(HnswVacuumTest, LeadsToVerticesAgainThatEveryListHasDropped) {
  const auto hnsw = make_paged(store_options(folder_), small_config(12, 2), rows_, 100);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 100; id < 2000; ++id) insert_row(writer, rows_, id);
  });
  const std::uint64_t lost = check_hnsw(*hnsw).lost;
  EXPECT_GT(lost, 50u);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    EXPECT_EQ(run_vacuum(*hnsw, fetcher).relinked, lost);
    EXPECT_EQ(run_vacuum(*hnsw, fetcher).relinked, 0u);
  });
  expect_sound(*hnsw, 2000);
  EXPECT_EQ(check_hnsw(*hnsw).lost, 0u);
}

TEST_F(HnswVacuumTest, WritersAndSearchesGoOnBetweenSteps) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 600);
  Random random(4);
  std::vector<bool> there(2000);
  std::fill_n(there.begin(), 600, true);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    HnswSearcher searcher(*hnsw, fetcher);
    HnswVacuum vacuum(*hnsw, fetcher, {});
    for (int i = 0; i < 3000; ++i) {
      const auto more = vacuum.step(kPatient);
      ASSERT_TRUE(more.ok()) << more.status().message();
      const auto id = static_cast<NodeId>(random.below(2000));
      if (there[id]) {
        delete_id(writer, id);
      } else if (random.below(3) == 0) {
        insert_row(writer, rows_, id);
      } else {
        continue;
      }
      there[id] = !there[id];
      for (const NodeId found : ids_of(answer(searcher, rows_.row(id), 10))) {
        EXPECT_TRUE(there[found]);
      }
    }
    EXPECT_GT(vacuum.done().removed, 100u);
    for (auto more = vacuum.step(kPatient); more.value(); more = vacuum.step(kPatient)) {
    }
  });
  expect_sound(*hnsw, static_cast<std::uint64_t>(std::count(there.begin(), there.end(), true)));
  EXPECT_EQ(hnsw->describe().state.marked, 0u);
  EXPECT_GT(recall_of(*hnsw, rows_, queries_, 40, [&](NodeId id) { return bool(there[id]); }),
            0.95);
}

}  // namespace
}  // namespace farvec::paged
