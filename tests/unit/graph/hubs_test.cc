#include "graph/hubs.h"

#include <gtest/gtest.h>

#include <vector>

namespace farvec::graph {
namespace {

TEST(Hubs, AreChosenMoreThanEightTimesTheDegree) {
  Hubs hubs(3, 2);
  const std::vector<NodeId> nothing;
  const std::vector<NodeId> one{1};
  for (int i = 0; i < 16; ++i) hubs.replace(nothing, one);
  EXPECT_FALSE(hubs.contains(1));
  hubs.replace(nothing, one);
  EXPECT_TRUE(hubs.contains(1));
  EXPECT_FALSE(hubs.contains(0));
  hubs.replace(one, nothing);
  EXPECT_FALSE(hubs.contains(1));
}

TEST(Hubs, ACountDoesNotFallBelowNothing) {
  Hubs hubs(2, 1);
  const std::vector<NodeId> nothing;
  const std::vector<NodeId> one{1};
  for (int i = 0; i < 4; ++i) hubs.replace(one, nothing);
  for (int i = 0; i < 9; ++i) hubs.replace(nothing, one);
  EXPECT_TRUE(hubs.contains(1));
}

TEST(Hubs, RecountsTheEdgesOfAGraphAlone) {
  Graph graph(20, 1);
  const std::vector<NodeId> nothing;
  const std::vector<NodeId> to_last{19};
  const std::vector<NodeId> often(100, 3);
  for (NodeId v = 0; v < 9; ++v) graph.set_neighbors(v, to_last);
  Hubs hubs(20, 1);
  hubs.replace(nothing, often);
  EXPECT_TRUE(hubs.contains(3));
  hubs.recount(graph);
  EXPECT_FALSE(hubs.contains(3));
  EXPECT_TRUE(hubs.contains(19));
}

}  // namespace
}  // namespace farvec::graph
