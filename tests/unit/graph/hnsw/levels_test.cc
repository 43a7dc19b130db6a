#include "graph/hnsw/levels.h"

#include <gtest/gtest.h>

#include <array>

namespace farvec::graph {
namespace {

TEST(HnswLevels, OneVertexInMGoesOn) {
  for (const std::uint32_t m : {2u, 8u, 24u}) {
    constexpr std::uint32_t kCount = 200'000;
    std::array<double, kLayers + 1> on_layer{};
    for (NodeId id = 0; id < kCount; ++id) {
      for (std::uint32_t l = 0; l <= level_of({1, m, kMaxLevel}, id); ++l) on_layer[l] += 1;
    }
    EXPECT_EQ(on_layer[0], kCount);
    EXPECT_NEAR(on_layer[1] / kCount, 1.0 / m, 0.1 / m);
    EXPECT_NEAR(on_layer[2] / on_layer[1], 1.0 / m, 0.3 / m);
  }
}

TEST(HnswLevels, DependsOnSeedAndIdAlone) {
  int different = 0;
  for (NodeId id = 0; id < 10'000; ++id) {
    EXPECT_EQ(level_of({7, 4, kMaxLevel}, id), level_of({7, 4, kMaxLevel}, id));
    different += level_of({7, 4, kMaxLevel}, id) != level_of({8, 4, kMaxLevel}, id) ? 1 : 0;
  }
  EXPECT_GT(different, 2000);
}

TEST(HnswLevels, StaysBelowTheHighest) {
  std::uint32_t highest = 0;
  for (NodeId id = 0; id < 100'000; ++id) {
    highest = std::max(highest, level_of({1, 2, 3}, id));
  }
  EXPECT_EQ(highest, 3u);
  EXPECT_LE(level_of({1, 2, kMaxLevel}, kInvalidNode - 1), kMaxLevel);
}

}  // namespace
}  // namespace farvec::graph
