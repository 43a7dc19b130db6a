#include "graph/robust_prune.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

/// The definition, eagerly: every kept neighbour marks all farther candidates it occludes.
std::vector<NodeId> naive_prune(const BuildSpace& space, NodeId v, std::vector<Neighbor> pool,
                                PruneParameters parameters) {
  std::sort(pool.begin(), pool.end(), [](const Neighbor& a, const Neighbor& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  });
  pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
  std::erase_if(pool, [v](const Neighbor& n) { return n.id == v; });
  std::vector<float> worst(pool.size(), 0.0f);
  std::vector<bool> kept(pool.size(), false);
  std::vector<NodeId> result;
  for (float limit : {1.0f, parameters.alpha * parameters.alpha}) {
    for (std::size_t i = 0; i < pool.size() && result.size() < parameters.degree; ++i) {
      if (kept[i] || worst[i] >= limit) continue;
      kept[i] = true;
      result.push_back(pool[i].id);
      for (std::size_t j = i + 1; j < pool.size(); ++j) {
        const float between = space.distance(pool[i].id, pool[j].id);
        const float ratio =
            between > 0 ? pool[j].distance / between : std::numeric_limits<float>::infinity();
        worst[j] = std::max(worst[j], ratio);
      }
    }
  }
  return result;
}

TEST(RobustPrune, MatchesTheEagerDefinition) {
  const testing::Cloud cloud(300, 7, 3);
  for (Metric metric : {Metric::l2, Metric::inner_product}) {
    const BuildSpace space(cloud.view(), metric, 1);
    Random random(11);
    for (int round = 0; round < 50; ++round) {
      const auto v = static_cast<NodeId>(random.below(300));
      std::vector<Neighbor> pool;
      for (int i = 0; i < 120; ++i) {
        const auto id = static_cast<NodeId>(random.below(300));
        pool.push_back({id, space.distance(v, id)});
      }
      const PruneParameters parameters{16, round % 2 == 0 ? 1.2f : 1.0f};
      RobustPrune prune(space, parameters);
      const auto expected = naive_prune(space, v, pool, parameters);
      EXPECT_EQ(prune.run(v, pool), expected);
    }
  }
}

TEST(RobustPrune, KeepsOneOfDuplicateVectorsAndNeverItself) {
  const std::vector<float> values(20, 1.0f);  // ten equal rows
  const BuildSpace space(packed_view(values.data(), 10, 2, ElementType::f32), Metric::l2, 1);
  std::vector<Neighbor> pool;
  for (NodeId id = 0; id < 10; ++id) pool.push_back({id, 0.0f});
  RobustPrune prune(space, {8, 1.2f});
  EXPECT_EQ(prune.run(0, pool), std::vector<NodeId>{1});
  std::vector<Neighbor> empty;
  EXPECT_TRUE(prune.run(0, empty).empty());
}

}  // namespace
}  // namespace farvec::graph
