// Searches over a source whose records come several at a time.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "graph/beam_search.h"
#include "graph/vamana_builder.h"
#include "tests/unit/graph/graph_source.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

constexpr std::uint32_t kCount = 1500;
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

class PageSearch : public ::testing::Test {
 protected:
  PageSearch() : cloud_(kCount + kQueries, 12, 3), data_(cloud_.view()) {
    data_.count = kCount;
    VamanaOptions options;
    options.degree = 16;
    options.list = 40;
    options.quiet = true;
    options.threads = 1;
    graph_ = std::make_unique<Graph>(build_vamana(data_, Metric::l2, options));
    parameters_.max_degree = 16;
    parameters_.node_count = kCount;
    parameters_.list = 40;
  }

  /// The distance of the last of the results.
  float search(PagedSource& source, std::size_t query) {
    const testing::ExactScorer scorer{
        data_, cloud_.view().row(kCount + query),
        distance::pair_kernel(Metric::l2, data_.type, data_.dimension)};
    EXPECT_TRUE(beam_search(source, scorer, {&graph_->entry, 1}, parameters_, scratch_).ok());
    EXPECT_EQ(scratch_.counts.distances, source.seen.size());
    return scratch_.results[scratch_.results.size() - 1].distance;
  }

  static constexpr std::size_t kQueries = 20;
  testing::Cloud cloud_;
  VectorView data_;
  std::unique_ptr<Graph> graph_;
  BeamParameters parameters_;
  BeamScratch scratch_;
};

TEST_F(PageSearch, ReadsFewerPagesAndFindsAsMuch) {
  for (const std::uint32_t width : {1u, 4u}) {
    parameters_.width = width;
    std::size_t pages = 0, alone = 0, records = 0;
    for (std::size_t query = 0; query < kQueries; ++query) {
      PagedSource with(*graph_, data_, true), without(*graph_, data_, false);
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
  PagedSource paged(*graph_, data_, false);
  testing::GraphSource plain{*graph_, data_};
  (void)search(paged, 3);
  const std::vector<NodeId> seen(paged.seen.begin(), paged.seen.end());
  const BeamCounts counts = scratch_.counts;
  const testing::ExactScorer scorer{data_, cloud_.view().row(kCount + 3),
                                    distance::pair_kernel(Metric::l2, data_.type, data_.dimension)};
  ASSERT_TRUE(beam_search(plain, scorer, {&graph_->entry, 1}, parameters_, scratch_).ok());
  EXPECT_EQ(counts.hops, scratch_.counts.hops);
  EXPECT_EQ(counts.estimates, scratch_.counts.estimates);
  EXPECT_EQ(counts.distances, scratch_.counts.distances);
}

}  // namespace
}  // namespace farvec::graph
