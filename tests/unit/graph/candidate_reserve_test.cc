#include "graph/candidate_reserve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace farvec::graph {
namespace {

TEST(CandidateReserve, GivesTheNearestBackInOrder) {
  Random random(5);
  CandidateReserve reserve;
  for (const std::uint32_t places : {0u, 1u, 50u}) {
    reserve.reset(places);
    std::vector<CandidateReserve::Key> all;
    for (NodeId id = 0; id < 3000; ++id) {
      const auto distance = static_cast<float>(random.uniform()) - 0.5f;
      if (!(distance < reserve.bound())) continue;
      all.push_back(CandidateList::key_of(distance, id));
      reserve.add(all.back());
    }
    std::sort(all.begin(), all.end());
    for (std::uint32_t i = 0; i < std::max(places, 1u); ++i) {
      CandidateReserve::Key key = 0;
      ASSERT_TRUE(reserve.take(key));
      EXPECT_EQ(key, all[i]) << places;
    }
    EXPECT_LT(reserve.dram_bytes(), 32768u) << "what cannot be needed is dropped";
  }
}

TEST(CandidateReserve, IsEmptyAtFirstAndKnowsWhatWasPassed) {
  CandidateReserve reserve;
  reserve.reset(10);
  CandidateReserve::Key key = 0;
  EXPECT_FALSE(reserve.take(key));
  EXPECT_FALSE(reserve.has_passed(3));
  EXPECT_TRUE(reserve.pass(3));
  EXPECT_FALSE(reserve.pass(3));
  EXPECT_TRUE(reserve.has_passed(3));
  reserve.reset(10);
  EXPECT_FALSE(reserve.has_passed(3));
}

}  // namespace
}  // namespace farvec::graph
