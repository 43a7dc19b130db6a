#include "graph/hnsw/select_neighbors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace farvec::graph {
namespace {

using ::testing::ElementsAre;

/// Points on a line around a vertex at 0; candidates are sorted by their distance to it.
struct Line {
  explicit Line(std::vector<float> at) : points(std::move(at)) {
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      candidates.push_back({points[i] * points[i], i, i});
    }
    std::sort(candidates.begin(), candidates.end());
  }
  std::vector<float> choose(std::uint32_t limit) {
    const auto between = [&](std::uint32_t a, std::uint32_t b) {
      const float d = points[candidates[a].id] - points[candidates[b].id];
      return d * d;
    };
    select_neighbors(candidates, {limit, 0}, between, selection);
    std::vector<float> chosen;
    for (const std::uint32_t at : selection.chosen) chosen.push_back(points[candidates[at].id]);
    return chosen;
  }
  std::vector<float> points;
  std::vector<Candidate> candidates;
  Selection selection;
};

TEST(SelectNeighbors, TakesOneOfEveryDirectionFirst) {
  Line line({1, 1.5f, 2, -3, -4});
  EXPECT_THAT(line.choose(2), ElementsAre(1, -3));
  EXPECT_THAT(line.selection.pruned, ElementsAre(1u, 2u));
}

TEST(SelectNeighbors, FillsUpWithTheNearestThatWerePruned) {
  Line line({1, 1.5f, 2, -3, -4});
  EXPECT_THAT(line.choose(4), ElementsAre(1, -3, 1.5f, 2));
  EXPECT_THAT(line.choose(10), ElementsAre(1, -3, 1.5f, 2, -4));
}

TEST(SelectNeighbors, NoneAndOne) {
  Line none({});
  EXPECT_THAT(none.choose(3), ElementsAre());
  Line one({2});
  EXPECT_THAT(one.choose(3), ElementsAre(2));
}

TEST(SelectNeighbors, DuplicatesDoNotTakeThePlacesOfOthers) {
  std::vector<float> points(50, 0.0f);
  points.push_back(5);
  points.push_back(-6);
  Line line(points);
  const auto chosen = line.choose(8);
  EXPECT_EQ(chosen.size(), 8u);
  EXPECT_THAT(std::vector<float>(chosen.begin(), chosen.begin() + 3), ElementsAre(0, 5, -6));
}

}  // namespace
}  // namespace farvec::graph
