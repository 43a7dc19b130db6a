#include "graph/vamana_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "graph/build_space.h"
#include "tests/unit/graph/graph_checks.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

using testing::expect_same;
using testing::expect_sound;
using testing::quiet_options;

constexpr std::uint32_t kMergeDimension = 10;

/// A graph over the first rows of some, rows that go, and all others after those that stay.
class Merging {
 public:
  Merging(const VectorView& all, std::size_t base, std::vector<NodeId> out)
      : out_(RowSet().with(out)) {
    const VectorView rows = all.part(0, base);
    former_rows_ = rows;
    for (std::size_t i = 0; i < all.count; ++i) {
      if (i < base && out_.contains(static_cast<NodeId>(i))) continue;
      if (i < base) kept_.push_back(static_cast<NodeId>(i));
      const auto* row = reinterpret_cast<const float*>(all.row(i));
      values_.insert(values_.end(), row, row + all.dimension);
    }
  }

  VectorView rows() const {
    const std::uint32_t dimension = former_rows_.dimension;
    return packed_view(values_.data(), values_.size() / dimension, dimension, ElementType::f32);
  }
  const std::vector<NodeId>& kept() const { return kept_; }

  Graph base(Metric metric, const VamanaOptions& options) const {
    return build_vamana(former_rows_, metric, options);
  }
  Graph merge(const Graph& former, Metric metric, const VamanaOptions& options,
              VamanaStats* stats = nullptr) const {
    Graph graph = merge_vamana({copy_of(former), out_, rows()}, metric, options, stats);
    EXPECT_EQ(graph.count(), rows().count);
    if (graph.count() > 0) {
      expect_sound(graph, options.degree);
      EXPECT_EQ(graph.entry, BuildSpace(rows(), metric, 1).medoid(1));
    }
    return graph;
  }
  Graph merge(Metric metric, const VamanaOptions& options) const {
    return merge(base(metric, options), metric, options);
  }

 private:
  RowSet out_;
  VectorView former_rows_;
  std::vector<NodeId> kept_;
  std::vector<float> values_;
};

/// Each of `count` with a probability of 1 / one_in.
std::vector<NodeId> some_of(std::size_t count, std::uint64_t one_in, std::uint64_t seed) {
  Random random(seed);
  std::vector<NodeId> some;
  for (NodeId id = 0; id < count; ++id) {
    if (random.below(one_in) == 0) some.push_back(id);
  }
  return some;
}

std::vector<NodeId> all_of(std::size_t count) {
  return some_of(count, 1, 0);
}

TEST(VamanaMerge, FindsTrueNeighboursAsAGraphFromNothingDoes) {
  const testing::Surface surface(3060, kMergeDimension, 1);
  const testing::Cloud cloud(3060, kMergeDimension, 1);
  for (const VectorView& all : {surface.view(), cloud.view()}) {
    const VectorView queries = all.part(3000, 60);
    const Merging merging(all.part(0, 3000), 2400, some_of(2400, 8, 2));
    for (const Metric metric : {Metric::l2, Metric::inner_product}) {
      const Graph merged = merging.merge(metric, quiet_options());
      const Graph built = build_vamana(merging.rows(), metric, quiet_options());
      const double recall = testing::recall(merged, merging.rows(), metric, queries);
      EXPECT_GE(recall, 0.94) << to_string(metric);
      EXPECT_GE(recall, testing::recall(built, merging.rows(), metric, queries) - 0.02)
          << to_string(metric);
    }
  }
}

TEST(VamanaMerge, ManyRoundsDoNotWearAGraphOut) {
  const testing::Surface surface(4050, kMergeDimension, 3);
  const VectorView queries = surface.view().part(4000, 50);
  std::vector<float> values(surface.values.begin(),
                            surface.values.begin() + 1000 * kMergeDimension);
  const auto rows = [&] {
    return packed_view(values.data(), values.size() / kMergeDimension, kMergeDimension,
                       ElementType::f32);
  };
  Graph graph = build_vamana(rows(), Metric::l2, quiet_options());
  for (std::size_t next = 1000; next < 4000; next += 300) {
    const std::vector<NodeId> out = some_of(1000, 4, next);
    for (std::size_t i = out.size(); i-- > 0;) {
      const auto at = values.begin() + out[i] * kMergeDimension;
      values.erase(at, at + kMergeDimension);
    }
    const auto* more = surface.values.data() + next * kMergeDimension;
    values.insert(values.end(), more, more + (1000 * kMergeDimension - values.size()));
    graph =
        merge_vamana({std::move(graph), RowSet().with(out), rows()}, Metric::l2, quiet_options());
    expect_sound(graph, quiet_options().degree);
  }
  EXPECT_GE(testing::recall(graph, rows(), Metric::l2, queries), 0.95);
}

TEST(VamanaMerge, SameGraphForAnyNumberOfThreads) {
  const testing::Surface surface(2000, kMergeDimension, 5);
  const Merging merging(surface.view(), 1500, some_of(1500, 5, 1));
  VamanaOptions options = quiet_options();
  options.passes = 2;
  options.threads = 1;
  const Graph one = merging.merge(Metric::l2, options);
  for (const unsigned threads : {2u, 3u}) {
    options.threads = threads;
    expect_same(one, merging.merge(Metric::l2, options));
  }
}

TEST(VamanaMerge, WithoutChangesTheGraphStays) {
  const testing::Cloud cloud(1000, kMergeDimension, 6);
  const Merging merging(cloud.view(), 1000, {});
  const Graph former = merging.base(Metric::l2, quiet_options());
  expect_same(former, merging.merge(former, Metric::l2, quiet_options()));
}

TEST(VamanaMerge, AVertexThatLosesNoNeighbourKeepsItsEdges) {
  const testing::Cloud cloud(1000, kMergeDimension, 6);
  const Merging merging(cloud.view(), 1000, some_of(1000, 50, 3));
  const Graph former = merging.base(Metric::l2, quiet_options());
  VamanaStats stats;
  const Graph merged = merging.merge(former, Metric::l2, quiet_options(), &stats);
  EXPECT_GT(stats.distances, 0u);
  const std::vector<NodeId>& kept = merging.kept();
  std::size_t same = 0, changed = 0;
  for (std::size_t v = 0; v < kept.size(); ++v) {
    std::vector<NodeId> expected;
    for (const NodeId neighbor : former.neighbors(kept[v])) {
      const auto at = std::lower_bound(kept.begin(), kept.end(), neighbor);
      if (at == kept.end() || *at != neighbor) break;
      expected.push_back(static_cast<NodeId>(at - kept.begin()));
    }
    if (expected.size() < former.neighbors(kept[v]).size()) continue;
    (std::ranges::equal(merged.neighbors(v), expected) ? same : changed) += 1;
  }
  EXPECT_GT(same, 500u);
  EXPECT_LE(changed, stats.repaired + 257) << "but for those that lead to others and far away";
}

TEST(VamanaMerge, NothingOfTheFormerGraphIsABuild) {
  const testing::Surface surface(600, kMergeDimension, 7);
  const Graph built = build_vamana(surface.view(), Metric::l2, quiet_options());
  expect_same(built, Merging(surface.view(), 0, {}).merge(Metric::l2, quiet_options()));

  const Merging replaced(surface.view(), 300, all_of(300));
  expect_same(build_vamana(surface.view().part(300, 300), Metric::l2, quiet_options()),
              replaced.merge(Metric::l2, quiet_options()));

  const Graph none =
      Merging(surface.view().part(0, 300), 300, all_of(300)).merge(Metric::l2, quiet_options());
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.entry, kInvalidNode);
}

TEST(VamanaMerge, SmallAndDegenerateSets) {
  const testing::Cloud cloud(40, 3, 9);
  for (const std::size_t base : {0u, 1u, 2u, 17u}) {
    for (const std::size_t more : {0u, 1u, 2u, 17u}) {
      const VectorView rows = cloud.view().part(0, base + more);
      Merging(rows, base, {}).merge(Metric::l2, quiet_options());
      if (base > 0) Merging(rows, base, {0}).merge(Metric::inner_product, quiet_options());
      if (base > 1) Merging(rows, base, some_of(base, 2, 1)).merge(Metric::l2, quiet_options());
    }
  }
  const std::vector<float> same(5 * 900, 2.5f);
  const VectorView view = packed_view(same.data(), 900, 5, ElementType::f32);
  const Merging merging(view, 600, some_of(600, 3, 1));
  const Graph merged = merging.merge(Metric::l2, quiet_options());
  const auto answer = testing::search(merged, merging.rows(), Metric::l2, same.data(), {});
  EXPECT_EQ(answer.neighbors.size(), 10u) << "duplicates of one vector are all reachable";
}

TEST(VamanaMerge, TakesAnyDegreeForAnother) {
  const testing::Cloud cloud(800, kMergeDimension, 4);
  const Merging merging(cloud.view(), 600, some_of(600, 10, 1));
  const Graph former = merging.base(Metric::l2, quiet_options());
  for (const std::uint32_t degree : {1u, 8u, 24u}) {
    VamanaOptions options = quiet_options();
    options.degree = degree;
    merging.merge(former, Metric::l2, options);
  }
}

TEST(VamanaMerge, MoreRowsThanBeforeAreInsertedAsWell) {
  const testing::Surface surface(3050, kMergeDimension, 8);
  const VectorView queries = surface.view().part(3000, 50);
  const Merging merging(surface.view().part(0, 3000), 100, some_of(100, 2, 1));
  const Graph merged = merging.merge(Metric::l2, quiet_options());
  EXPECT_GE(testing::recall(merged, merging.rows(), Metric::l2, queries), 0.95);
}

TEST(VamanaMerge, MostOrAllOfARegionMayGo) {
  const testing::Cloud cloud(3050, kMergeDimension, 12);
  const VectorView queries = cloud.view().part(3000, 50);
  const VectorView all = cloud.view().part(0, 3000);
  for (const std::uint64_t kept_one_in : {2u, 4u, 20u}) {
    std::vector<NodeId> out = all_of(3000);
    std::erase_if(out, [&](NodeId id) { return id % kept_one_in == 0; });
    const Merging merging(all, 3000, out);
    const Graph merged = merging.merge(Metric::l2, quiet_options());
    EXPECT_GE(testing::recall(merged, merging.rows(), Metric::l2, queries), 0.94) << kept_one_in;
  }
  std::vector<NodeId> near = all_of(3000);
  const auto l2 = distance::pair_kernel(Metric::l2, ElementType::f32, kMergeDimension);
  std::sort(near.begin(), near.end(), [&](NodeId a, NodeId b) {
    return l2(all.row(0), all.row(a), kMergeDimension) <
           l2(all.row(0), all.row(b), kMergeDimension);
  });
  near.resize(1800);
  const Merging merging(all, 3000, near);
  const Graph merged = merging.merge(Metric::l2, quiet_options());
  EXPECT_GE(testing::recall(merged, merging.rows(), Metric::l2, queries), 0.95);
}

TEST(VamanaMerge, WhereMoreThanHalfIsOutTheRestIsBuiltAnew) {
  const testing::Cloud cloud(1200, kMergeDimension, 4);
  for (const std::size_t kept : {499u, 500u}) {
    std::vector<NodeId> out = all_of(1000);
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kept));
    const Merging merging(cloud.view(), 1000, out);
    VamanaStats stats;
    const Graph former = merging.base(Metric::l2, quiet_options());
    const Graph merged = merging.merge(former, Metric::l2, quiet_options(), &stats);
    VamanaStats anew;
    const Graph built = build_vamana(merging.rows(), Metric::l2, quiet_options(), &anew);
    if (kept < 500) {
      testing::expect_same(merged, built);
      EXPECT_EQ(stats.distances, anew.distances);
    } else {
      EXPECT_LT(stats.distances, anew.distances);
    }
  }
}

TEST(VamanaMerge, EndsEarlyWhenItIsInterrupted) {
  const testing::Cloud cloud(600, kMergeDimension, 4);
  const Merging merging(cloud.view(), 400, some_of(400, 4, 1));
  const Graph former = merging.base(Metric::l2, quiet_options());
  std::atomic<int> asked = 0;
  VamanaOptions options = quiet_options();
  options.interrupted = [&] { return ++asked < 0; };
  const Graph merged = merging.merge(former, Metric::l2, options);
  const int most = asked;
  EXPECT_GT(most, 10);
  for (const int after : {1, 2, most / 2, most}) {
    asked = 0;
    options.interrupted = [&] { return ++asked >= after; };
    EXPECT_THROW(merging.merge(former, Metric::l2, options), WorkInterrupted) << after;
  }
  asked = 0;
  options.interrupted = [&] { return ++asked >= 5; };
  EXPECT_THROW(build_vamana(cloud.view(), Metric::l2, options), WorkInterrupted);
}

TEST(VamanaMerge, RefusesOptionsThatMakeNoSense) {
  const testing::Cloud cloud(10, 2, 4);
  const Merging merging(cloud.view(), 8, {1});
  const Graph former = merging.base(Metric::l2, quiet_options());
  VamanaOptions options = quiet_options();
  options.list = 0;
  EXPECT_THROW(merging.merge(former, Metric::l2, options), Error);
}

}  // namespace
}  // namespace farvec::graph
