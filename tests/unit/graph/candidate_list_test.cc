#include "graph/candidate_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace farvec::graph {
namespace {

/// The oracle: a vector that is sorted after every insertion.
struct NaiveList {
  std::uint32_t capacity;
  std::vector<Neighbor> entries;
  void insert(float distance, NodeId id) {
    const Neighbor entry{id, distance};
    if (std::find(entries.begin(), entries.end(), entry) != entries.end()) return;
    entries.push_back(entry);
    std::sort(entries.begin(), entries.end(), [](const Neighbor& a, const Neighbor& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
    });
    if (entries.size() > capacity) entries.pop_back();
  }
};

TEST(CandidateList, MatchesSortedVectorOracle) {
  Random random(7);
  for (std::uint32_t capacity : {1u, 2u, 3u, 17u, 64u}) {
    CandidateList list;
    list.reset(capacity);
    NaiveList naive{capacity, {}};
    for (int i = 0; i < 500; ++i) {
      // Few distinct distances, negative ones too: ties and sign changes are the hard part.
      const auto distance = static_cast<float>(static_cast<int>(random.below(40)) - 20);
      const auto id = static_cast<NodeId>(random.below(50));
      // A tie with the bound is not offered: the list keeps what it has.
      if (!(distance < list.bound())) continue;
      list.insert(distance, id);
      naive.insert(distance, id);
      ASSERT_EQ(list.size(), naive.entries.size());
      for (std::uint32_t j = 0; j < list.size(); ++j) ASSERT_EQ(list[j], naive.entries[j]);
    }
  }
}

TEST(CandidateList, TakesFreshEntriesNearestFirstAndOnce) {
  CandidateList list;
  list.reset(4);
  list.insert(3.0f, 30);
  list.insert(1.0f, 10);
  NodeId taken[2];
  ASSERT_EQ(list.take_fresh({taken, 1}), 1u);
  EXPECT_EQ(taken[0], 10u);
  list.insert(0.5f, 5);  // nearer than the cursor
  ASSERT_EQ(list.take_fresh(taken), 2u);
  EXPECT_EQ(taken[0], 5u);
  EXPECT_EQ(taken[1], 30u);
  EXPECT_FALSE(list.insert(1.0f, 10)) << "an expanded entry is not taken in again";
  EXPECT_EQ(list.take_fresh(taken), 0u);
}

TEST(CandidateList, PeeksAtFreshEntriesAndTakesOneOfThem) {
  CandidateList list;
  list.reset(4);
  for (NodeId id : {1u, 2u, 3u}) list.insert(static_cast<float>(id), id);
  CandidateList::Position ahead[4];
  ASSERT_EQ(list.peek_fresh({ahead, 2}), 2u);
  EXPECT_EQ(list.take(ahead[1]), 2u);
  ASSERT_EQ(list.peek_fresh(ahead), 2u) << "what was taken is no longer fresh";
  EXPECT_EQ(list[ahead[0]].id, 1u);
  EXPECT_EQ(list[ahead[1]].id, 3u);
  EXPECT_EQ(list.take(ahead[0]), 1u);
  NodeId taken[4];
  ASSERT_EQ(list.take_fresh(taken), 1u);
  EXPECT_EQ(taken[0], 3u);
  EXPECT_EQ(list.peek_fresh(ahead), 0u);
}

TEST(CandidateList, TakesAFreshEntryByItsId) {
  CandidateList list;
  list.reset(4);
  for (NodeId id = 1; id <= 4; ++id) list.insert(static_cast<float>(id), id);
  EXPECT_TRUE(list.take_fresh(3));
  EXPECT_FALSE(list.take_fresh(3));
  EXPECT_FALSE(list.take_fresh(9));
  EXPECT_TRUE(list.take_fresh(1));
  NodeId rest[4];
  ASSERT_EQ(list.take_fresh(rest), 2u);
  EXPECT_EQ(rest[0], 2u);
  EXPECT_EQ(rest[1], 4u);
  EXPECT_FALSE(list.take_fresh(2));
  list.insert(0.5f, 7);
  EXPECT_TRUE(list.take_fresh(7));
  list.insert(0.25f, kMaxNodes - 1);
  EXPECT_TRUE(list.take_fresh(kMaxNodes - 1));
}

TEST(CandidateList, RefusesNaNAndKeepsInfinityOut) {
  CandidateList list;
  list.reset(2);
  EXPECT_FALSE(list.insert(std::numeric_limits<float>::quiet_NaN(), 1));
  EXPECT_FALSE(list.insert(std::numeric_limits<float>::infinity(), 1));
  EXPECT_TRUE(list.insert(-std::numeric_limits<float>::max(), 1));
  EXPECT_EQ(list.size(), 1u);
}

TEST(CandidateList, NamesFewerThanMaxNodes) {
  EXPECT_NO_THROW(require_node_count(kMaxNodes - 1, "vertices"));
  EXPECT_THROW(require_node_count(kMaxNodes, "vertices"), Error);
}

}  // namespace
}  // namespace farvec::graph
