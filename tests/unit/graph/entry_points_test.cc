#include "graph/entry_points.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace farvec::graph {
namespace {

TEST(EntryPoints, AreTheEntryAndOthersEvenlySpread) {
  EXPECT_EQ(spread_entries(3, 100, 6), (std::vector<NodeId>{3, 0, 20, 40, 60, 80}));
  EXPECT_EQ(spread_entries(3, 100).size(), kEntries);
}

TEST(EntryPoints, OfFewVerticesAreNearlyAll) {
  EXPECT_EQ(spread_entries(0, 1), std::vector<NodeId>{0});
  EXPECT_EQ(spread_entries(2, 4), (std::vector<NodeId>{2, 0, 1, 2}));
  EXPECT_TRUE(spread_entries(kInvalidNode, 0).empty());
}

TEST(EntryPoints, AreVertices) {
  EXPECT_THROW((void)spread_entries(100, 100), Error);
  EXPECT_THROW((void)spread_entries(kInvalidNode, 1), Error);
}

}  // namespace
}  // namespace farvec::graph
