#include "graph/robust_prune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

/// The definition, eagerly: every kept neighbour marks all farther candidates it occludes.
class NaivePrune {
 public:
  NaivePrune(const BuildSpace& space, NodeId v, const Hubs* hubs)
      : space_(space), v_(v), hubs_(hubs) {}

  std::vector<NodeId> run(std::vector<Neighbor> pool, PruneParameters parameters) {
    std::sort(pool.begin(), pool.end(), [](const Neighbor& a, const Neighbor& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
    });
    pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
    std::erase_if(pool, [this](const Neighbor& n) { return n.id == v_; });
    pool_ = pool;
    worst_.assign(pool.size(), 0.0f);
    kept_.assign(pool.size(), false);
    float limit = parameters.alpha * parameters.alpha;
    const std::uint32_t goal = space_.products() ? parameters.degree : parameters.degree / 2;
    pass(1.0f, parameters.degree);
    if (!space_.products()) pass(limit, parameters.degree);
    for (int step = 0; step < 8; ++step) pass(limit *= 1.44f, goal);
    pass(std::numeric_limits<float>::infinity(), goal);
    return result_;
  }

 private:
  void pass(float limit, std::uint32_t degree) {
    for (std::size_t i = 0; i < pool_.size() && result_.size() < degree; ++i) {
      if (kept_[i] || worst_[i] >= limit) continue;
      kept_[i] = true;
      result_.push_back(pool_[i].id);
      for (std::size_t j = i + 1; j < pool_.size(); ++j) mark(pool_[i], j);
    }
  }

  void mark(const Neighbor& kept, std::size_t j) {
    const float self = space_.self(v_);
    if (kept.distance <= self && pool_[j].distance > self) return;
    const float ratio = space_.occlusion(pool_[j].distance, space_.distance(kept.id, pool_[j].id));
    if (hubs_ != nullptr && hubs_->contains(kept.id) && ratio < 4) return;
    worst_[j] = std::max(worst_[j], ratio);
  }

  const BuildSpace& space_;
  const NodeId v_;
  const Hubs* hubs_;
  std::vector<Neighbor> pool_;
  std::vector<float> worst_;
  std::vector<bool> kept_;
  std::vector<NodeId> result_;
};

/// Of `count` vertices; one in `one_in` is a hub.
Hubs some_hubs(std::size_t count, std::uint32_t one_in) {
  Hubs hubs(count, 1);
  const std::vector<NodeId> nothing;
  for (NodeId v = 0; v < count; v += one_in) {
    const std::vector<NodeId> often(100, v);
    hubs.replace(nothing, often);
  }
  return hubs;
}

TEST(RobustPrune, MatchesTheEagerDefinition) {
  const testing::Cloud cloud(300, 7, 3);
  const Hubs hubs = some_hubs(300, 5);
  for (Metric metric : {Metric::l2, Metric::inner_product}) {
    const BuildSpace space(cloud.view(), metric, 1);
    Random random(11);
    for (int round = 0; round < 100; ++round) {
      const auto v = static_cast<NodeId>(random.below(300));
      std::vector<Neighbor> pool;
      for (int i = 0; i < 120; ++i) {
        const auto id = static_cast<NodeId>(random.below(300));
        pool.push_back({id, space.distance(v, id)});
      }
      const PruneParameters parameters{16, round % 2 == 0 ? 1.2f : 1.0f};
      const Hubs* const known = round % 4 < 2 ? nullptr : &hubs;
      RobustPrune prune(space, parameters, known);
      const auto expected = NaivePrune(space, v, known).run(pool, parameters);
      EXPECT_EQ(prune.run(v, pool), expected) << to_string(metric) << " round " << round;
    }
  }
}

/// Rows on a line: all lie behind the nearest one.
TEST(RobustPrune, FillsHalfOfAListThatIsLeftShort) {
  std::vector<float> values(64);
  std::iota(values.begin(), values.end(), 0.0f);
  const BuildSpace space(packed_view(values.data(), 64, 1, ElementType::f32), Metric::l2, 1);
  std::vector<NodeId> ids(63);
  std::iota(ids.begin(), ids.end(), NodeId{1});
  RobustPrune prune(space, {16, 1.2f});
  EXPECT_EQ(prune.run(0, std::span<const NodeId>(ids)).size(), 8u);
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
