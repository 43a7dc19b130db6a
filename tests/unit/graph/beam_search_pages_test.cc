// Searches over a source whose records come several at a time.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "graph/beam_search.h"
#include "tests/unit/graph/search_fixture.h"

namespace farvec::graph {
namespace {

constexpr std::uint32_t kPerPage = 30;

/// Page p holds the vertices from p * kPerPage on.
struct PagedSource : testing::GraphSource {
  PagedSource(const Graph& records, VectorView vectors, bool along)
      : GraphSource{records, vectors}, along_(along) {}

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    return expand(frontier, visit, [](NodeId) { return false; });
  }
  template <typename Visit, typename Wanted>
  Status expand(std::span<const NodeId> frontier, Visit&& visit, Wanted&& wanted) {
    for (const NodeId id : frontier) {
      ++pages;
      show(id, visit);
      const NodeId first = id / kPerPage * kPerPage;
      for (NodeId other = first; along_ && other < first + kPerPage; ++other) {
        if (wanted(other)) show(other, visit);
      }
    }
    return {};
  }

  std::size_t pages = 0;
  std::set<NodeId> seen;

 private:
  template <typename Visit>
  void show(NodeId id, Visit&& visit) {
    EXPECT_TRUE(seen.insert(id).second) << id << " twice";
    EXPECT_TRUE(GraphSource::expand({&id, 1}, visit).ok());
  }

  bool along_;
};

class PageSearch : public testing::SearchFixture {
 protected:
  /// The distance of the last of the results.
  float search(PagedSource& source, std::size_t query) {
    EXPECT_TRUE(beam_search(source, scorer(query), {&graph_.entry, 1}, parameters_, scratch_).ok());
    EXPECT_EQ(scratch_.counts.distances, source.seen.size());
    return scratch_.results[scratch_.results.size() - 1].distance;
  }
};

TEST_F(PageSearch, ReadsFewerPagesAndFindsAsMuch) {
  for (const std::uint32_t width : {1u, 4u}) {
    parameters_.width = width;
    std::size_t pages = 0, alone = 0, records = 0;
    for (std::size_t query = 0; query < kQueries; ++query) {
      PagedSource with(graph_, data_, true), without(graph_, data_, false);
      EXPECT_LE(search(with, query), search(without, query) * 1.0001f);
      pages += with.pages;
      records += with.seen.size();
      alone += without.pages;
    }
    EXPECT_LT(pages, alone);
    EXPECT_GT(records, pages);
  }
}

TEST_F(PageSearch, IsTheUsualSearchWhenNothingComesAlong) {
  PagedSource paged(graph_, data_, false);
  testing::GraphSource plain{graph_, data_};
  (void)search(paged, 3);
  const std::vector<NodeId> seen(paged.seen.begin(), paged.seen.end());
  const BeamCounts counts = scratch_.counts;
  ASSERT_TRUE(beam_search(plain, scorer(3), {&graph_.entry, 1}, parameters_, scratch_).ok());
  EXPECT_EQ(counts.hops, scratch_.counts.hops);
  EXPECT_EQ(counts.estimates, scratch_.counts.estimates);
  EXPECT_EQ(counts.distances, scratch_.counts.distances);
}

}  // namespace
}  // namespace farvec::graph
