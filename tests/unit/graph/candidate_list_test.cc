#include "graph/candidate_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace farvec::graph {
namespace {

/// The oracle: a vector that is sorted after every insertion.
struct NaiveList {
  std::uint32_t capacity;
  std::vector<Neighbor> entries;
  std::vector<NodeId> expanded;  ///< those that were in the list and fresh when they were taken

  bool insert(float distance, NodeId id) {
    const Neighbor entry{id, distance};
    if (entries.size() == capacity && !(distance < entries.back().distance)) return false;
    if (std::find(entries.begin(), entries.end(), entry) != entries.end()) return false;
    entries.push_back(entry);
    std::sort(entries.begin(), entries.end(), [](const Neighbor& a, const Neighbor& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
    });
    if (entries.size() > capacity) entries.pop_back();
    return true;
  }
  bool is_expanded(NodeId id) const {
    return std::find(expanded.begin(), expanded.end(), id) != expanded.end();
  }
  /// Of an entry that is fresh where it is in the list.
  bool improve(float from, float to, NodeId id) {
    const auto old = std::find(entries.begin(), entries.end(), Neighbor{id, from});
    if (old == entries.end()) return insert(to, id);
    entries.erase(old);
    return insert(to, id);
  }
  NodeId take() {
    for (const Neighbor& entry : entries) {
      if (is_expanded(entry.id)) continue;
      expanded.push_back(entry.id);
      return entry.id;
    }
    return kInvalidNode;
  }
};

TEST(CandidateList, MatchesSortedVectorOracle) {
  Random random(7);
  for (std::uint32_t capacity : {1u, 2u, 3u, 17u, 64u}) {
    CandidateList list;
    list.reset(capacity);
    NaiveList naive{capacity, {}, {}};
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

/// In any order, with few distances, and with every entry offered more than once.
TEST(CandidateList, KeepsTheSmallestIdsOfTheGreatestDistance) {
  Random random(13);
  for (const std::uint32_t capacity : {1u, 2u, 5u, 17u, 40u, 64u}) {
    CandidateList list;
    list.reset(capacity);
    std::map<NodeId, float> offered;
    for (int i = 0; i < 400; ++i) {
      const auto id = static_cast<NodeId>(random.below(50));
      const float distance = id % 5 == 0 ? -0.0f : static_cast<float>(id % 5) - 2;
      list.keep(distance, id);
      offered[id] = distance;
      std::vector<std::pair<float, NodeId>> nearest;
      for (const auto& [other, far] : offered) nearest.emplace_back(far, other);
      std::sort(nearest.begin(), nearest.end());
      nearest.resize(std::min<std::size_t>(nearest.size(), capacity));
      ASSERT_EQ(list.size(), nearest.size());
      for (std::uint32_t j = 0; j < list.size(); ++j) {
        ASSERT_EQ(list[j].distance, nearest[j].first);
        ASSERT_EQ(list[j].id, nearest[j].second);
      }
      ASSERT_EQ(list.bound(),
                list.full() ? nearest.back().first : std::numeric_limits<float>::infinity());
    }
  }
}

/// As a search does: every id has one estimate, which only falls, and none once it is expanded.
TEST(CandidateList, ImprovesAsTheSortedVectorDoes) {
  Random random(11);
  std::size_t fallen = 0, moved = 0, taken = 0;
  for (const std::uint32_t capacity : {1u, 2u, 5u, 17u, 64u}) {
    CandidateList list;
    list.reset(capacity);
    NaiveList naive{capacity, {}, {}};
    std::vector<float> known(90, std::numeric_limits<float>::infinity());
    for (int i = 0; i < 3000; ++i) {
      if (random.below(25) == 0) {
        NodeId id = kInvalidNode;
        (void)list.take_fresh({&id, 1});
        ASSERT_EQ(id, naive.take());
        taken += id != kInvalidNode ? 1 : 0;
      }
      const auto id = static_cast<NodeId>(random.below(known.size()));
      if (naive.is_expanded(id)) continue;
      // Few distinct distances, so that most are equal to another's.
      const float to = static_cast<float>(static_cast<int>(random.below(60)) - 30 - i / 100);
      if (!(to < known[id])) continue;
      const float from = std::exchange(known[id], to);
      const bool was_there =
          std::count(naive.entries.begin(), naive.entries.end(), Neighbor{id, from}) > 0;
      if (from == std::numeric_limits<float>::infinity()) {
        ASSERT_EQ(list.insert(to, id), naive.insert(to, id));
      } else {
        ASSERT_EQ(list.improve(from, to, id), naive.improve(from, to, id));
        ++(was_there ? moved : fallen);
      }
      ASSERT_EQ(list.size(), naive.entries.size());
      for (std::uint32_t j = 0; j < list.size(); ++j) ASSERT_EQ(list[j], naive.entries[j]);
      const bool full = list.size() == capacity;
      ASSERT_EQ(list.bound(),
                full ? naive.entries.back().distance : std::numeric_limits<float>::infinity());
    }
  }
  EXPECT_GT(fallen, 100u) << "entries that came back";
  EXPECT_GT(moved, 100u);
  EXPECT_GT(taken, 50u);
}

TEST(CandidateList, AnImprovedEntryIsTakenWhereItIsNow) {
  CandidateList list;
  list.reset(3);
  for (const NodeId id : {1u, 2u, 3u}) list.insert(static_cast<float>(id), id);
  NodeId taken[3];
  ASSERT_EQ(list.take_fresh({taken, 1}), 1u);
  EXPECT_TRUE(list.improve(3.0f, 0.5f, 3)) << "nearer than what is expanded already";
  EXPECT_EQ(list.bound(), 2.0f);
  EXPECT_FALSE(list.improve(9.0f, 2.0f, 9)) << "it had fallen out, and is no nearer than the last";
  EXPECT_TRUE(list.improve(9.0f, 1.5f, 9));
  ASSERT_EQ(list.take_fresh(taken), 2u);
  EXPECT_EQ(taken[0], 3u);
  EXPECT_EQ(taken[1], 9u);
}

TEST(CandidateList, HasNoIdTwice) {
  Random random(7);
  std::size_t entered = 0, left = 0;
  for (const std::uint32_t capacity : {1u, 3u, 16u}) {
    CandidateList list;
    list.reset(capacity);
    for (int i = 0; i < 4000; ++i) {
      NodeId taken = kInvalidNode;
      if (random.below(30) == 0) (void)list.take_fresh({&taken, 1});
      const auto id = static_cast<NodeId>(random.below(40));
      const auto distance = static_cast<float>(1000 - i / 8 + static_cast<int>(random.below(99)));
      std::map<NodeId, float> before;
      for (std::uint32_t at = 0; at < list.size(); ++at) {
        before[list[at].id] = list[at].distance;
      }
      const bool was_there = before.count(id) > 0;
      const bool is_in = random.below(2) == 0 ? list.insert_once(distance, id)
                                              : list.improve(5000.0f, distance, id);
      std::map<NodeId, float> after;
      for (std::uint32_t at = 0; at < list.size(); ++at) {
        EXPECT_TRUE(after.emplace(list[at].id, list[at].distance).second) << "twice: " << id;
      }
      if (is_in) {
        EXPECT_EQ(after.at(id), distance);
        EXPECT_TRUE(!was_there || distance < before.at(id));
      } else {
        EXPECT_EQ(after, before);
      }
      entered += is_in ? 1 : 0;
      left += !is_in && was_there ? 1 : 0;
    }
  }
  EXPECT_GT(entered, 500u);
  EXPECT_GT(left, 500u);
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

TEST(CandidateList, AnEntryThatIsTakenOutLeavesRoomForOneThatWasDropped) {
  CandidateList list;
  list.reset(3);
  for (NodeId id = 1; id <= 3; ++id) EXPECT_TRUE(list.insert(static_cast<float>(id), id));
  ASSERT_TRUE(list.full());
  NodeId taken[2];
  EXPECT_EQ(list.take_fresh(taken), 2u);
  EXPECT_EQ(CandidateList::id_of(list.farthest()), 3u);
  EXPECT_FALSE(list.erase(9));
  EXPECT_TRUE(list.erase(1));
  EXPECT_FALSE(list.full());
  EXPECT_FALSE(list.restore(CandidateList::key_of(5, 3))) << "it is there";
  EXPECT_TRUE(list.restore(CandidateList::key_of(4, 4)));
  EXPECT_FALSE(list.restore(CandidateList::key_of(4.5, 5))) << "too far";
  EXPECT_EQ(list[0], (Neighbor{2, 2}));
  EXPECT_EQ(list[2], (Neighbor{4, 4}));
  EXPECT_EQ(list.take_fresh(taken), 2u) << "2 was taken before";
  EXPECT_EQ(taken[0], 3u);
  EXPECT_EQ(taken[1], 4u);
  // One that was expanded when it was dropped comes back as such.
  const CandidateList::Key expanded = list.farthest();
  EXPECT_FALSE(CandidateList::is_fresh(expanded));
  EXPECT_TRUE(list.erase(4));
  EXPECT_TRUE(list.restore(expanded));
  EXPECT_EQ(list.take_fresh(taken), 0u);
}

}  // namespace
}  // namespace farvec::graph
