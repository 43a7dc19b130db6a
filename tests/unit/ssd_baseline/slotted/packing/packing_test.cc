#include "ssd_baseline/slotted/packing/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "graph/vamana_builder.h"
#include "ssd_baseline/slotted/packing/adjacency_lists.h"
#include "ssd_baseline/slotted/packing/affinity_threshold.h"
#include "ssd_baseline/slotted/packing/page_colors.h"

namespace farvec::slotted {
namespace {

constexpr PackingKind kKinds[] = {PackingKind::affinity, PackingKind::bnf, PackingKind::id};

/// Many small groups of vectors, far from each other.
std::vector<float> grouped_rows(std::size_t count, std::uint32_t dimension, std::size_t group) {
  Random random(11);
  std::vector<float> center(dimension), rows;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t d = 0; d < dimension; ++d) {
      if (i % group == 0) center[d] = static_cast<float>(20 * random.normal());
      rows.push_back(center[d] + static_cast<float>(random.normal()));
    }
  }
  return rows;
}

/// A graph over rows, in an order that has nothing to do with their groups.
class Built {
 public:
  explicit Built(std::size_t count, std::uint32_t limit = 7) : rows_(shuffled(count)) {
    graph::VamanaOptions options;
    options.degree = 12;
    options.list = 30;
    options.threads = 2;
    options.quiet = true;
    options.affinity = {affinity_threshold(view(), Metric::l2, {.threads = 2}), limit};
    graph_ =
        std::make_unique<graph::Graph>(graph::build_vamana(view(), Metric::l2, options, &stats_));
    layout::SlottedGeometry geometry;
    geometry.payload = layout::PayloadKind::code;
    geometry.extension_bits = 4;
    geometry.payload_bytes = 300;
    geometry.max_degree = 12;
    geometry.count = count;
    costs_ = layout::record_costs(geometry, graph_->view(), 2);
  }

  VectorView view() const {
    return packed_view(rows_.data(), rows_.size() / kDimension, kDimension, ElementType::f32);
  }
  const graph::AffineSets& affine() const { return stats_.affine; }
  PackingInput input(unsigned threads) const {
    return {graph_->view(), costs_, stats_.affine, 7, threads};
  }
  layout::PagePlan plan(PackingKind kind, unsigned threads = 2) const {
    return pack_records(kind, input(threads));
  }
  const layout::RecordCosts& costs() const { return costs_; }

 private:
  static constexpr std::uint32_t kDimension = 8;

  static std::vector<float> shuffled(std::size_t count) {
    const std::vector<float> rows = grouped_rows(count, kDimension, 8);
    std::vector<std::size_t> order(count);
    Random random(5);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::vector<float> result;
    for (const std::size_t row : order) {
      result.insert(result.end(), rows.begin() + static_cast<std::ptrdiff_t>(row * kDimension),
                    rows.begin() + static_cast<std::ptrdiff_t>((row + 1) * kDimension));
    }
    return result;
  }

  std::vector<float> rows_;
  graph::VamanaStats stats_;
  std::unique_ptr<graph::Graph> graph_;
  layout::RecordCosts costs_;
};

TEST(Packing, PutsEveryVertexOnOnePage) {
  for (const std::size_t count : {1u, 2u, 3u, 50u, 1000u}) {
    const Built built(count);
    for (const PackingKind kind : kKinds) {
      SCOPED_TRACE(testing::Message() << to_string(kind) << " of " << count);
      EXPECT_EQ(pages_of(built.plan(kind), built.costs()).size(), count);
    }
  }
}

TEST(Packing, DoesNotDependOnTheThreads) {
  const Built built(20'000);
  for (const PackingKind kind : kKinds) {
    const layout::PagePlan one = built.plan(kind, 1);
    const layout::PagePlan three = built.plan(kind, 3);
    EXPECT_EQ(one.ids, three.ids) << to_string(kind);
    EXPECT_EQ(one.begins, three.begins) << to_string(kind);
    EXPECT_EQ(one.colors, three.colors) << to_string(kind);
  }
}

TEST(Packing, BringsTogetherWhatBelongsTogether) {
  const Built built(4000);
  const auto overlap = [&](PackingKind kind) {
    return page_overlap(built.plan(kind), built.input(1).graph);
  };
  const auto together = [&](PackingKind kind) {
    const AffinePairs pairs = count_affine_pairs(built.affine(), built.plan(kind));
    return static_cast<double>(pairs.together) / static_cast<double>(pairs.all);
  };
  EXPECT_GT(overlap(PackingKind::bnf), 10 * overlap(PackingKind::id));
  EXPECT_GT(together(PackingKind::affinity), 0.5);
  EXPECT_GT(together(PackingKind::affinity), 10 * together(PackingKind::id));
}

TEST(Packing, ColorsOnlyWhatIsAffine) {
  const Built built(3000);
  const layout::PagePlan plan = built.plan(PackingKind::affinity);
  const AdjacencyLists affine(3000, [&](std::size_t v) { return built.affine().of(v); });
  std::size_t colored = 0;
  for (std::size_t p = 0; p < plan.pages(); ++p) {
    std::map<std::uint8_t, std::vector<NodeId>> sets;
    for (std::uint64_t i = plan.begins[p]; i < plan.begins[p + 1]; ++i) {
      if (plan.colors[i] != 0) sets[plan.colors[i]].push_back(plan.ids[i]);
    }
    for (const auto& [color, ids] : sets) {
      colored += ids.size();
      if (ids.size() < 2) continue;  // what a split set left
      for (const NodeId id : ids) {
        const auto list = affine.of(id);
        EXPECT_FALSE(list.empty()) << id;
      }
    }
  }
  EXPECT_GT(colored, 1000u);
}

TEST(Packing, WithoutAffineVerticesFollowsTheNeighbours) {
  Built built(500);
  const graph::AffineSets none(500, {0, 4});
  const PackingInput input{built.input(1).graph, built.costs(), none, 1, 1};
  const layout::PagePlan plan = pack_records(PackingKind::affinity, input);
  EXPECT_EQ(pages_of(plan, built.costs()).size(), 500u);
  EXPECT_EQ(std::set<std::uint8_t>(plan.colors.begin(), plan.colors.end()),
            std::set<std::uint8_t>{0});
  EXPECT_GT(page_overlap(plan, input.graph),
            page_overlap(built.plan(PackingKind::id), input.graph));
}

TEST(Packing, EndsWhenItIsInterrupted) {
  const Built built(2000);
  for (const PackingKind kind : {PackingKind::affinity, PackingKind::bnf}) {
    PackingInput input = built.input(2);
    int asked = 0;
    input.interrupted = [&] { return ++asked == 1; };
    EXPECT_THROW(pack_records(kind, input), WorkInterrupted) << to_string(kind);
    EXPECT_EQ(asked, 1) << to_string(kind);
  }
}

TEST(Packing, AllVectorsEqual) {
  const std::vector<float> rows(600 * 4, 1.0f);
  const VectorView view = packed_view(rows.data(), 600, 4, ElementType::f32);
  graph::VamanaOptions options;
  options.degree = 8;
  options.list = 20;
  options.quiet = true;
  options.affinity = {affinity_threshold(view, Metric::l2, {.threads = 1}), 5};
  graph::VamanaStats stats;
  const graph::Graph graph = graph::build_vamana(view, Metric::l2, options, &stats);
  layout::SlottedGeometry geometry{layout::PayloadKind::vector, 0, 16, 4096, 8, 0, 600};
  const layout::RecordCosts costs = layout::record_costs(geometry, graph.view(), 1);
  for (const PackingKind kind : kKinds) {
    const layout::PagePlan plan = pack_records(kind, {graph.view(), costs, stats.affine, 1, 1});
    EXPECT_EQ(pages_of(plan, costs).size(), 600u) << to_string(kind);
  }
}

TEST(PageColors, JoinWhatIsAffineWithinAPage) {
  graph::AffineSets affine(7, {1.0f, 2});
  affine.set(0, std::vector<graph::Neighbor>{{1, 0.5f}, {6, 0.7f}});
  affine.set(2, std::vector<graph::Neighbor>{{1, 0.5f}});
  affine.set(4, std::vector<graph::Neighbor>{{5, 0.5f}});
  layout::PagePlan plan{{0, 4, 7}, {2, 3, 1, 0, 6, 5, 4}, {}};
  color_pages(affine, plan);
  // 2 - 1 - 0 in the first page, 4 - 5 in the second; 0 - 6 is across pages.
  EXPECT_EQ(plan.colors, (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 2, 2}));
}

TEST(Packing, CountsEveryPairOnce) {
  graph::AffineSets affine(4, {1.0f, 2});
  affine.set(0, std::vector<graph::Neighbor>{{1, 0.5f}, {2, 0.7f}});
  affine.set(1, std::vector<graph::Neighbor>{{0, 0.5f}});
  affine.set(3, std::vector<graph::Neighbor>{{0, 0.9f}, {1, 2.0f}});
  const layout::PagePlan plan{{0, 2, 4}, {0, 1, 2, 3}, {}};
  const AffinePairs pairs = count_affine_pairs(affine, plan);
  EXPECT_EQ(pairs.all, 3u);  // 0-1, 0-2, 3-0
  EXPECT_EQ(pairs.together, 1u);
}

TEST(Packing, ParsesItsOwnWords) {
  for (const PackingKind kind : kKinds) EXPECT_EQ(parse_packing_kind(to_string(kind)), kind);
  EXPECT_THROW(parse_packing_kind("random"), Error);
}

TEST(AffinityThreshold, DoesNotDependOnTheThreads) {
  const std::vector<float> rows = grouped_rows(4000, 8, 8);
  const VectorView view = packed_view(rows.data(), 4000, 8, ElementType::f32);
  const float threshold = affinity_threshold(view, Metric::l2, {.threads = 2});
  EXPECT_GT(threshold, 0);
  EXPECT_EQ(affinity_threshold(view, Metric::l2, {.threads = 1}), threshold);
  EXPECT_EQ(affinity_threshold(packed_view(rows.data(), 1, 8, ElementType::f32), Metric::l2,
                               {.threads = 1}),
            0);
  EXPECT_GT(affinity_threshold(view, Metric::inner_product, {.threads = 2}), 0);
}

TEST(AffinityThreshold, GrowsWithThePercentile) {
  const std::vector<float> rows = grouped_rows(4000, 8, 8);
  const VectorView view = packed_view(rows.data(), 4000, 8, ElementType::f32);
  float before = -1;
  for (const double percentile : {0.0, 5.0, 50.0, 100.0}) {
    const float threshold =
        affinity_threshold(view, Metric::l2, {.percentile = percentile, .threads = 2});
    EXPECT_GT(threshold, before) << percentile;
    before = threshold;
  }
}

TEST(AffinityThreshold, EndsWhenItIsInterrupted) {
  const std::vector<float> rows = grouped_rows(4000, 8, 8);
  const VectorView view = packed_view(rows.data(), 4000, 8, ElementType::f32);
  EXPECT_THROW(affinity_threshold(view, Metric::l2, {.interrupted = [] { return true; }}),
               WorkInterrupted);
}

TEST(AdjacencyLists, KnowBothDirections) {
  const std::vector<std::vector<NodeId>> rows{{2, 1}, {0}, {}, {0}};
  const AdjacencyLists lists(4, [&](std::size_t v) { return std::span<const NodeId>(rows[v]); });
  const auto list = [&](std::size_t v) {
    return std::vector<NodeId>(lists.of(v).begin(), lists.of(v).end());
  };
  EXPECT_EQ(list(0), (std::vector<NodeId>{2, 1, 3}));
  EXPECT_EQ(list(1), (std::vector<NodeId>{0}));
  EXPECT_EQ(list(2), (std::vector<NodeId>{0}));
  EXPECT_EQ(list(3), (std::vector<NodeId>{0}));
}

}  // namespace
}  // namespace farvec::slotted
