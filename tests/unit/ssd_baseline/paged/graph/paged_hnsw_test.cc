#include "ssd_baseline/paged/graph/paged_hnsw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/stored_form.h"
#include "tests/unit/message_of.h"
#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const auto kAll = [](NodeId) { return true; };

class PagedHnswTest : public ::testing::Test {
 protected:
  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config();
};

TEST_F(PagedHnswTest, IsTheSameAfterItWasOpenedAgain) {
  const Rows rows(700, config_);
  const Rows queries(20, config_, 9);
  std::vector<std::vector<graph::Candidate>> before;
  const auto ask = [&](PagedHnsw& hnsw) {
    std::vector<std::vector<graph::Candidate>> found;
    run_on_pages(hnsw.store(), [&](PageFetcher& fetcher) {
      HnswSearcher searcher(hnsw, fetcher);
      for (std::size_t q = 0; q < 20; ++q) found.push_back(answer(searcher, queries.row(q), 30));
    });
    return found;
  };
  {
    const auto hnsw = make_paged(store_options(folder_), config_, rows, 700);
    before = ask(*hnsw);
    expect_sound(*hnsw, 700);
  }
  const auto hnsw = PagedHnsw::open(store_options(folder_));
  EXPECT_EQ(ask(*hnsw), before);
  expect_sound(*hnsw, 700);
  const HnswDescription description = hnsw->describe();
  EXPECT_EQ(description.config.dimension, 12u);
  EXPECT_EQ(description.config.m, 6u);
  EXPECT_EQ(description.config.ef_construction, 60u);
  EXPECT_EQ(description.state.vertices, 700u);
  EXPECT_EQ(description.state.pages[1], 1u);
  EXPECT_EQ(description.state.pages[3], 1u);
  EXPECT_EQ(description.pages, 2u + description.state.pages[2]);
  EXPECT_THROW(PagedHnsw::create(store_options(folder_), config_, {}), Error);
}

TEST_F(PagedHnswTest, EmptyGraphFindsNothing) {
  const Rows rows(1, config_);
  for (const bool with_graph : {false, true}) {
    const tests::TemporaryFolder folder;
    const auto hnsw = with_graph ? make_paged(store_options(folder), config_, rows, 0)
                                 : PagedHnsw::create(store_options(folder), config_, {});
    expect_sound(*hnsw, 0);
    run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
      HnswSearcher searcher(*hnsw, fetcher);
      EXPECT_TRUE(answer(searcher, rows.row(0), 5).empty());
    });
  }
}

TEST_F(PagedHnswTest, RowsLieInTheOrderGiven) {
  const Rows rows(100, config_);
  const graph::HnswGraph graph = build(rows, 100, config_);
  std::vector<NodeId> order(100);
  std::iota(order.rbegin(), order.rend(), NodeId{0});
  const std::vector<std::uint32_t> begins{0, 10, 50};
  const std::vector<std::uint32_t> partitions{4, 7, 9};
  HnswContents contents{rows.view(), {}, &graph, {order, begins, partitions}};
  const auto hnsw = PagedHnsw::create(store_options(folder_), config_, contents);
  expect_sound(*hnsw, 100);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    FetchCounts counts;
    const auto first_of = [&](PageNumber page) {
      NodeId id = kInvalidNode;
      std::uint32_t tag = 0;
      fetcher.fetch(page, kPatient, counts).value().read([&](std::span<const std::byte> bytes) {
        id = layout::HnswVertex::parse(hnsw->shape(), bytes, 0).value().id();
        tag = load_unaligned<layout::StorePageHeader>(bytes.data()).tag;
      });
      return std::pair(id, tag);
    };
    EXPECT_EQ(first_of(1), std::pair(99u, 5u));
    EXPECT_EQ(first_of(2), std::pair(89u, 8u));
    EXPECT_EQ(first_of(3), std::pair(49u, 10u));
  });
}

TEST_F(PagedHnswTest, IdsMayHaveGaps) {
  const Rows rows(300, config_);
  std::vector<NodeId> ids;
  for (NodeId row = 0; row < 300; ++row) {
    ids.push_back(row < 100 ? row * 3 : row < 200 ? 5'000'000 + row * 1000 : kInvalidNode - row);
  }
  const graph::HnswGraph graph = build(rows, 300, config_, ids);
  const auto hnsw =
      PagedHnsw::create(store_options(folder_), config_, {rows.view(), ids, &graph, {}});
  expect_sound(*hnsw, 300);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswSearcher searcher(*hnsw, fetcher);
    for (NodeId row = 0; row < 300; row += 37) {
      EXPECT_EQ(answer(searcher, rows.row(row), 20).front().id, ids[row]);
    }
  });
}

TEST_F(PagedHnswTest, EveryTypeAndMetric) {
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    for (const Metric metric : {Metric::l2, Metric::inner_product, Metric::cosine}) {
      HnswConfig config = small_config(13);
      config.type = type;
      config.metric = metric;
      const tests::TemporaryFolder folder;
      if (stored_type(metric, type) != type) {
        EXPECT_THROW(PagedHnsw::create(store_options(folder), config, {}), Error);
        continue;
      }
      const Rows rows(400, config);
      const Rows queries(20, config, 2);
      const auto hnsw = make_paged(store_options(folder), config, rows, 300);
      run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
        HnswWriter writer(*hnsw, fetcher);
        for (NodeId id = 300; id < 400; ++id) insert_row(writer, rows, id);
      });
      expect_sound(*hnsw, 400);
      EXPECT_GT(recall_of(*hnsw, rows, queries, 60, kAll), 0.97)
          << to_string(type) << " " << to_string(metric);
    }
  }
}

TEST_F(PagedHnswTest, RefusesWhatDoesNotGoTogether) {
  const Rows rows(50, config_);
  const graph::HnswGraph graph = build(rows, 50, config_);
  const auto refused = [&](const HnswContents& contents, const char* why) {
    const tests::TemporaryFolder folder;
    EXPECT_THAT(
        tests::message_of([&] { PagedHnsw::create(store_options(folder), config_, contents); }),
        HasSubstr(why));
  };
  refused({rows.view(40), {}, &graph, {}}, "do not go together");
  const std::vector<NodeId> same_ids(50, 7);
  refused({rows.view(), same_ids, &graph, {}}, "the same id, 7");
  std::vector<NodeId> order(50, 3);
  refused({rows.view(), {}, &graph, {order, {}, {}}}, "row 3 is in the order");
  const std::vector<std::uint32_t> begins{1, 2};
  refused({rows.view(), {}, &graph, {{}, begins, {}}}, "do not ascend");
  HnswConfig other = config_;
  other.seed = 2;
  const graph::HnswGraph levels = build(rows, 50, other);
  refused({rows.view(), {}, &levels, {}}, "hnsw_level_rule");
}

TEST_F(PagedHnswTest, NamesThePageSizeThatWouldDo) {
  HnswConfig config = small_config(2000);
  EXPECT_THAT(tests::message_of([&] { PagedHnsw::create(store_options(folder_), config, {}); }),
              HasSubstr("use 16384"));
  config.m = 1;
  EXPECT_THAT(tests::message_of([&] { hnsw_level_rule(config, 8192); }), HasSubstr("m 1"));
}

}  // namespace
}  // namespace farvec::paged
