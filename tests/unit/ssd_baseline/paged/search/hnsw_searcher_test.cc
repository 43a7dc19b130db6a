#include "ssd_baseline/paged/search/hnsw_searcher.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

constexpr std::uint32_t kRowsPerPage = 4;
constexpr std::size_t kRowCount = 1000;

/// The graph in memory as a source that counts what the pages should cost: row r is on page
/// r / kRowsPerPage.
struct CountingSource {
  const graph::HnswGraph& graph;
  const Rows& rows;
  std::span<const std::byte> query;
  HnswCounts counts = {};

  Status neighbors(graph::Handle vertex, std::uint32_t layer, std::vector<graph::Handle>& out) {
    const auto row = graph.neighbors(static_cast<NodeId>(vertex), layer);
    out.assign(row.begin(), row.end());
    ++counts.layers[layer].expanded;
    ++counts.layers[layer].pages.asked;
    return {};
  }
  template <typename Visit>
  Status score(std::uint32_t layer, std::span<const graph::Handle> handles, Visit&& visit) {
    const auto kernel = distance::pair_kernel(Metric::l2, rows.type, rows.dimension);
    std::set<graph::Handle> pages;
    for (const graph::Handle h : handles) {
      pages.insert(h / kRowsPerPage);
      const float d = kernel(query.data(), rows.row(h).data(), rows.dimension);
      visit(graph::Scored{{d, static_cast<NodeId>(h), h}, false});
    }
    counts.layers[layer].visited += handles.size();
    counts.layers[layer].distances += handles.size();
    counts.layers[layer].pages.asked += pages.size();
    return {};
  }
};

class HnswSearcherTest : public ::testing::Test {
 protected:
  HnswSearcherTest() {
    std::vector<std::uint32_t> begins;
    for (std::uint32_t row = 0; row < kRowCount; row += kRowsPerPage) begins.push_back(row);
    HnswContents contents{rows_.view(), {}, &graph_, {{}, begins, {}}};
    // Fewer frames than pages: searches have to wait.
    hnsw_ = PagedHnsw::create(store_options(folder_, 80u * 8192), config_, contents);
  }
  template <typename Work>
  void on_pages(Work&& work) {
    run_on_pages(hnsw_->store(), work);
  }
  const HnswConfig config_ = small_config();
  const Rows rows_{kRowCount, config_};
  const Rows queries_{30, config_, 9};
  const graph::HnswGraph graph_ = build(rows_, kRowCount, config_);
  tests::TemporaryFolder folder_;
  std::unique_ptr<PagedHnsw> hnsw_;
};

TEST_F(HnswSearcherTest, EveryWayOfReadingDoesWhatASearchInMemoryDoes) {
  std::uint64_t missed = 0;
  on_pages([&](PageFetcher& fetcher) {
    for (const ReadMode mode : {ReadMode::sync, ReadMode::parallel, ReadMode::pipelined}) {
      for (const std::uint32_t min_complete : {1u, 6u, 1000u}) {
        HnswSearcher searcher(*hnsw_, fetcher, {mode, min_complete});
        for (std::size_t q = 0; q < queries_.count(); ++q) {
          CountingSource source{graph_, rows_, queries_.row(q)};
          graph::LayerScratch scratch;
          ASSERT_TRUE(graph::enter(source, graph_.top(), graph_.entry(), scratch).ok());
          ASSERT_TRUE(graph::descend(source, graph_.top(), 0, scratch).ok());
          ASSERT_TRUE(graph::layer_search(source, {0, 25}, scratch).ok());
          searcher.counts().clear();
          const auto found = answer(searcher, queries_.row(q), 25);
          EXPECT_EQ(ids_of(found), ids_of(scratch.found()));
          EXPECT_EQ(searcher.counts().meta.asked, 1u);
          for (std::uint32_t layer = 0; layer < graph::kLayers; ++layer) {
            const auto& expected = source.counts.layers[layer];
            const auto& counted = searcher.counts().layers[layer];
            EXPECT_EQ(counted.visited, expected.visited) << "layer " << layer;
            EXPECT_EQ(counted.distances, expected.distances) << "layer " << layer;
            EXPECT_EQ(counted.expanded, expected.expanded) << "layer " << layer;
            EXPECT_EQ(counted.pages.asked, expected.pages.asked) << "layer " << layer;
            EXPECT_LE(counted.pages.hits, counted.pages.asked);
            missed += counted.pages.asked - counted.pages.hits;
          }
        }
      }
    }
  });
  EXPECT_GT(missed, 0u);
}

TEST_F(HnswSearcherTest, AllocatesNothingMoreOnceItHasSearched) {
  on_pages([&](PageFetcher& fetcher) {
    HnswSearcher searcher(*hnsw_, fetcher);
    for (std::size_t q = 0; q < 30; ++q) answer(searcher, queries_.row(q), 40);
    const std::size_t bytes = searcher.dram_bytes();
    for (std::size_t q = 0; q < 30; ++q) answer(searcher, queries_.row(q), 40);
    EXPECT_EQ(searcher.dram_bytes(), bytes);
  });
}

TEST_F(HnswSearcherTest, MoreResultsThanThereAre) {
  on_pages([&](PageFetcher& fetcher) {
    HnswSearcher searcher(*hnsw_, fetcher);
    EXPECT_EQ(answer(searcher, queries_.row(0), 5000).size(), kRowCount);
  });
}

TEST_F(HnswSearcherTest, RefusesOtherVectorsAndNoList) {
  on_pages([&](PageFetcher& fetcher) {
    HnswSearcher searcher(*hnsw_, fetcher);
    const auto query = queries_.row(0);
    EXPECT_EQ(searcher.search({query.first(query.size() - 1), 10, kPatient}).code(),
              StatusCode::invalid_argument);
    EXPECT_EQ(searcher.search({query, 0, kPatient}).code(), StatusCode::invalid_argument);
  });
}

TEST(ReadMode, HasWords) {
  for (const ReadMode mode : {ReadMode::sync, ReadMode::parallel, ReadMode::pipelined}) {
    EXPECT_EQ(parse_read_mode(to_string(mode)), mode);
  }
  EXPECT_ANY_THROW(parse_read_mode("async"));
}

/// A graph of some thousand vertices of which few are left.
class NearlyAllDeleted : public ::testing::Test {
 protected:
  static constexpr std::size_t kRowsThere = 4000;

  template <typename Left>
  void delete_all_but(PageFetcher& fetcher, Left&& left) {
    HnswWriter writer(*hnsw_, fetcher);
    for (NodeId id = 0; id < kRowsThere; ++id) {
      if (!left(id)) delete_id(writer, id);
    }
  }
  static bool is_tenth(NodeId id) { return id % 400 == 7; }

  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config();
  const Rows rows_{kRowsThere, config_};
  const Rows queries_{10, config_, 9};
  std::unique_ptr<PagedHnsw> hnsw_ = make_paged(store_options(folder_), config_, rows_, kRowsThere);
};

TEST_F(NearlyAllDeleted, ASearchFindsTheTenThatAreLeft) {
  run_on_pages(hnsw_->store(), [&](PageFetcher& fetcher) {
    delete_all_but(fetcher, is_tenth);
    HnswSearcher searcher(*hnsw_, fetcher);
    for (std::size_t q = 0; q < queries_.count(); ++q) {
      const auto truth = truth_of(rows_, config_.metric, queries_.row(q), 10, is_tenth);
      EXPECT_EQ(ids_of(answer(searcher, queries_.row(q), 10)), ids_of(truth));
    }
    run_vacuum(*hnsw_, fetcher);
    for (std::size_t q = 0; q < queries_.count(); ++q) {
      const auto truth = truth_of(rows_, config_.metric, queries_.row(q), 10, is_tenth);
      EXPECT_EQ(ids_of(answer(searcher, queries_.row(q), 10)), ids_of(truth));
    }
  });
  expect_sound(*hnsw_, 10);
}

/// The one that is left is the farthest: all others are near enough.
TEST_F(NearlyAllDeleted, ASearchFindsTheLastOneThatIsLeftInEveryMode) {
  const auto everything =
      truth_of(rows_, config_.metric, queries_.row(0), kRowsThere, [](NodeId) { return true; });
  const NodeId left = everything.back().id;
  run_on_pages(hnsw_->store(), [&](PageFetcher& fetcher) {
    delete_all_but(fetcher, [&](NodeId id) { return id == left; });
    std::vector<std::uint64_t> visited;
    for (const ReadMode mode : {ReadMode::sync, ReadMode::parallel, ReadMode::pipelined}) {
      HnswSearcher searcher(*hnsw_, fetcher, {mode, 2});
      EXPECT_EQ(ids_of(answer(searcher, queries_.row(0), 2)), std::vector<NodeId>{left});
      visited.push_back(searcher.counts().layers[0].visited);
      EXPECT_LE(visited.back(), kRowsThere);
      EXPECT_EQ(ids_of(answer(searcher, queries_.row(0), 10)), std::vector<NodeId>{left});
    }
    EXPECT_EQ(visited, std::vector<std::uint64_t>(3, visited[0]));
  });
}

TEST_F(NearlyAllDeleted, NothingIsWalkedWhenAllAreDeleted) {
  run_on_pages(hnsw_->store(), [&](PageFetcher& fetcher) {
    delete_all_but(fetcher, [](NodeId) { return false; });
    HnswSearcher searcher(*hnsw_, fetcher);
    EXPECT_TRUE(answer(searcher, queries_.row(0), 10).empty());
    EXPECT_EQ(searcher.counts().layers[0].visited, 0u);
    HnswWriter writer(*hnsw_, fetcher);
    insert_row(writer, rows_, 20);
    EXPECT_EQ(ids_of(answer(searcher, queries_.row(0), 10)), std::vector<NodeId>{20});
  });
}

}  // namespace
}  // namespace farvec::paged
