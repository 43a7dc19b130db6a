#include "graph/estimate_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/random.h"

namespace farvec::graph {
namespace {

/// What a table that never forgets answers.
class NaiveTable {
 public:
  float lower(NodeId id, float estimate) {
    const auto [place, is_new] = known_.try_emplace(id, estimate);
    if (is_new) return EstimateTable::kUnknown;
    const float known = place->second;
    place->second = std::min(known, estimate);
    return known;
  }
  void settle(NodeId id) { known_[id] = EstimateTable::kSettled; }

 private:
  std::unordered_map<NodeId, float> known_;
};

/// Ids of which each has a place of its own: none makes the table forget one before it.
std::vector<NodeId> without_collisions(std::uint32_t expected, std::size_t most) {
  EstimateTable table;
  std::vector<NodeId> kept;
  for (NodeId id = 0; kept.size() < most && id < 100 * most; ++id) {
    table.reset(expected);
    for (const NodeId other : kept) table.lower(other, 1.0f);
    table.lower(id, 1.0f);
    bool alone = true;
    for (const NodeId other : kept) alone = alone && table.lower(other, 1.0f) == 1.0f;
    if (alone) kept.push_back(id);
  }
  return kept;
}

TEST(EstimateTable, MatchesAMapWhereNoIdsCollide) {
  const std::vector<NodeId> ids = without_collisions(512, 200);
  ASSERT_EQ(ids.size(), 200u);
  EstimateTable table;
  Random random(3);
  for (int round = 0; round < 3; ++round) {
    table.reset(512);
    NaiveTable naive;
    for (int i = 0; i < 5000; ++i) {
      const NodeId id = ids[random.below(ids.size())];
      if (random.below(20) == 0) {
        table.settle(id);
        naive.settle(id);
        continue;
      }
      const auto estimate = static_cast<float>(static_cast<int>(random.below(200)) - 100);
      ASSERT_EQ(table.lower(id, estimate), naive.lower(id, estimate)) << "round " << round;
    }
  }
}

TEST(EstimateTable, AResetForgetsEverything) {
  EstimateTable table;
  for (const std::uint32_t expected : {4000u, 1u, 4000u}) {
    table.reset(expected);
    for (NodeId id = 0; id < 100; ++id) {
      ASSERT_EQ(table.lower(id, 2.0f), EstimateTable::kUnknown);
      table.settle(id);
    }
  }
}

/// More ids than slots: it forgets, but never answers with an estimate that is not the id's own.
TEST(EstimateTable, ForgetsButNeverConfuses) {
  EstimateTable table;
  table.reset(1);
  std::unordered_map<NodeId, float> lowest;
  Random random(5);
  std::size_t forgotten = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto id = static_cast<NodeId>(random.below(5000));
    // No two ids have an estimate in common.
    const float estimate = static_cast<float>(id) + 0.125f * static_cast<float>(random.below(8));
    const float known = table.lower(id, estimate);
    const bool met = lowest.count(id) != 0;
    if (known == EstimateTable::kUnknown) {
      ASSERT_FALSE(met) << "it says so when it may have forgotten";
    }
    if (known == EstimateTable::kUnknown || known == EstimateTable::kForgotten) {
      forgotten += met ? 1 : 0;
      lowest[id] = estimate;
      continue;
    }
    ASSERT_TRUE(met);
    ASSERT_EQ(known, lowest[id]);
    lowest[id] = std::min(known, estimate);
  }
  EXPECT_GT(forgotten, 0u);
}

TEST(EstimateTable, IsBoundedInSize) {
  EstimateTable table;
  table.reset(~0u);
  EXPECT_LE(table.dram_bytes(), std::size_t{1} << 19);
  for (NodeId id = 0; id < 200'000; ++id) table.lower(id, 1.0f);
  EXPECT_EQ(table.lower(kInvalidNode - 1, 1.0f), EstimateTable::kForgotten);
}

}  // namespace
}  // namespace farvec::graph
