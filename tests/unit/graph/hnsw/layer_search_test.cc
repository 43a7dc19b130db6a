#include "graph/hnsw/layer_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/graph/hnsw/hnsw_fixture.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

using testing::HnswSource;
using testing::search_hnsw;

class LayerSearch : public ::testing::Test {
 protected:
  HnswSource source(const void* query) const {
    return {graph_, data_, query, distance::pair_kernel(Metric::l2, ElementType::f32, 12)};
  }
  const testing::Cloud cloud_{1000, 12, 1};
  const VectorView data_ = cloud_.view();
  const HnswGraph graph_ = build_hnsw(data_, Metric::l2, {}, testing::quiet_hnsw());
};

TEST_F(LayerSearch, FindsAllWhenTheListHoldsAll) {
  auto s = source(data_.row(5));
  EXPECT_EQ(search_hnsw(s, 2000), testing::nearest_rows(data_, Metric::l2, data_.row(5), 2000));
}

TEST_F(LayerSearch, DoesNotDependOnTheOrderOfVisits) {
  for (NodeId q = 0; q < 50; ++q) {
    auto forwards = source(data_.row(q));
    auto backwards = source(data_.row(q));
    backwards.backwards = true;
    EXPECT_EQ(search_hnsw(forwards, 20), search_hnsw(backwards, 20));
    EXPECT_EQ(forwards.scored, backwards.scored);
    EXPECT_EQ(forwards.calls, backwards.calls);
  }
}

TEST_F(LayerSearch, PassesThroughMarkedVertices) {
  Random random(3);
  for (const double share : {0.3, 0.9}) {
    std::vector<bool> marked(data_.count);
    for (std::size_t v = 0; v < data_.count; ++v) marked[v] = random.uniform() < share;
    double hits = 0;
    for (NodeId q = 0; q < 50; ++q) {
      auto truth = testing::nearest_rows(data_, Metric::l2, data_.row(q), data_.count);
      std::erase_if(truth, [&](const Candidate& c) { return marked[c.id]; });
      auto s = source(data_.row(q));
      s.marked = marked;
      const auto found = search_hnsw(s, 40);
      ASSERT_EQ(found.size(), 40u);
      for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_FALSE(marked[found[i].id]);
        hits += found[i].distance <= truth[9].distance ? 1 : 0;
      }
    }
    EXPECT_GT(hits / 500, 0.99);
  }
}

TEST_F(LayerSearch, FindsNothingWhenAllAreMarked) {
  auto s = source(data_.row(0));
  s.marked.assign(data_.count, true);
  EXPECT_TRUE(search_hnsw(s, 10).empty());
  s.marked[999] = false;
  s.scored = 0;
  EXPECT_THAT(search_hnsw(s, 10), ::testing::SizeIs(1));
}

/// Answers the first `good` calls.
struct FailingSource : HnswSource {
  int good = 0;
  template <typename Visit>
  Status score(std::uint32_t layer, std::span<const Handle> handles, Visit&& visit) {
    if (good-- <= 0) return {StatusCode::data_loss, "broken"};
    return HnswSource::score(layer, handles, visit);
  }
};

TEST_F(LayerSearch, EndsWithTheSourcesError) {
  for (const int good : {0, 1, 3}) {
    FailingSource s{source(data_.row(0)), good};
    LayerScratch scratch;
    Status status = enter(s, graph_.top(), graph_.entry(), scratch);
    if (status.ok()) status = descend(s, graph_.top(), 0, scratch);
    if (status.ok()) status = layer_search(s, {0, 100}, scratch);
    EXPECT_EQ(status.code(), StatusCode::data_loss);
  }
}

TEST(LayerScratch, LeavesOutWhatIsNotANumber) {
  LayerScratch scratch;
  scratch.clear();
  scratch.begin_layer(4);
  scratch.add({std::nanf(""), 1, 1}, false);
  scratch.add({2, 2, 2}, false);
  scratch.end_layer();
  EXPECT_THAT(scratch.found(), ::testing::ElementsAre(Candidate{2, 2, 2}));
}

/// Met in any order, a thousand marked ones end a search of 2 only if it has found enough.
TEST(LayerScratch, EndsAmongTooManyMarked) {
  for (const bool ascending : {true, false}) {
    for (const std::size_t least : {0u, 1u}) {
      LayerScratch scratch;
      Candidate taken;
      scratch.clear();
      scratch.begin_layer(2, least);
      const auto meet = [&](NodeId first, NodeId end, bool marked) {
        for (NodeId i = first; i < end; ++i) {
          const NodeId id = ascending ? i : first + end - 1 - i;
          scratch.add({static_cast<float>(id), id, id}, marked);
        }
      };
      meet(0, 2 * kMarkedPerPlace - 1, true);
      EXPECT_TRUE(scratch.take(taken));
      EXPECT_EQ(taken.id, 0u);
      meet(5000, 5001, true);
      EXPECT_EQ(scratch.take(taken), least > 0);
      EXPECT_EQ(scratch.cut_short(), least == 0);
      meet(6000, 6001, false);
      EXPECT_FALSE(scratch.take(taken));
      EXPECT_TRUE(scratch.cut_short());
    }
  }
}

/// Those that are farther than what was found before do not count, and what comes with them in
/// whatever order changes nothing.
TEST(LayerScratch, CountsMarkedOnesThatAreNearEnough) {
  for (const bool found_first : {true, false}) {
    LayerScratch scratch;
    Candidate taken;
    scratch.clear();
    scratch.begin_layer(1);
    if (found_first) scratch.add({1, 1, 1}, false);
    for (NodeId i = 0; i + 1 < kMarkedPerPlace; ++i) scratch.add({2, 100 + i, 100 + i}, true);
    if (!found_first) scratch.add({1, 1, 1}, false);
    EXPECT_TRUE(scratch.take(taken));
    for (NodeId i = 0; i < 2 * kMarkedPerPlace; ++i) scratch.add({3, 1000 + i, 1000 + i}, true);
    EXPECT_FALSE(scratch.take(taken));
    EXPECT_FALSE(scratch.cut_short());
  }
}

}  // namespace
}  // namespace farvec::graph
