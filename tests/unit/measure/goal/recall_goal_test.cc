#include "measure/goal/recall_goal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/message_of.h"

namespace farvec::measure {
namespace {

using search::AskedSearch;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kSample = 20;

/// Searches that find more the farther they look: of graphs, query q finds all k rows with a list
/// of 5 (q + 1) and more, and none with a shorter one. Of clusters it wants q + 1 clusters too.
struct MadeUpSearch {
  bool clusters = false;
  std::uint32_t missing = 0;  ///< of the true neighbours, which no search finds
  std::set<std::uint32_t> lists = {};
  std::size_t searches = 0;

  SampleAnswers operator()(const AskedSearch& asked) {
    ++searches;
    lists.insert(asked.list);
    SampleAnswers answers;
    dataset::GroundTruth& found = answers.found;
    found.queries = kSample;
    found.k = asked.k;
    for (std::uint32_t q = 0; q < kSample; ++q) {
      const bool probed = !clusters || asked.probing.clusters > q;
      const bool finds = asked.exact || (probed && asked.list >= 5 * (q + 1));
      for (std::uint32_t i = 0; i < asked.k; ++i) {
        const bool here = finds && i + missing < asked.k;
        found.ids.push_back(here ? i : kInvalidNode);
        found.distances.push_back(here ? static_cast<float>(i + 1)
                                       : std::numeric_limits<float>::infinity());
      }
    }
    return answers;
  }
};

ChosenSearch choose(MadeUpSearch& made, SearchReach reach, double recall, std::uint32_t k = 4) {
  AskedSearch asked;
  asked.k = k;
  return choose_for_recall(asked, reach, recall, [&](const AskedSearch& one) { return made(one); });
}

TEST(RecallGoal, ChoosesTheShortestList) {
  // Recall 0.6 wants 12 of 20 queries.
  for (const auto& [recall, list] : {std::pair{0.6, 60u}, {0.05, 5u}, {1.0, 100u}, {0.96, 100u}}) {
    MadeUpSearch made;
    const ChosenSearch chosen = choose(made, {}, recall);
    EXPECT_EQ(chosen.asked.list, list) << recall;
    EXPECT_FALSE(chosen.asked.exact);
    EXPECT_GE(chosen.recall, recall);
    EXPECT_LT(made.searches, 20u);
    EXPECT_EQ(*made.lists.begin() >= 4, true) << "a list holds the results";
  }
}

TEST(RecallGoal, TheLeastListIsEnoughWhereEverythingIsFound) {
  MadeUpSearch made;
  EXPECT_EQ(choose(made, {.bounds = {.vectors = 200}}, 0.95, 100).asked.list, 100u);
}

TEST(RecallGoal, ChoosesClustersAndThenAList) {
  SearchReach reach{.bounds = {.kind = layout::IndexKind::cluster, .clusters = 50}};
  MadeUpSearch made{.clusters = true};
  AskedSearch asked;
  asked.k = 4;
  asked.list = 1000;
  const ChosenSearch probed =
      choose_for_recall(asked, reach, 0.5, [&](const AskedSearch& one) { return made(one); });
  EXPECT_EQ(probed.asked.probing.clusters, 10u);
  EXPECT_EQ(probed.asked.list, 1000u) << "it is as it was asked for";
  reach.clusters_have_lists = true;
  const ChosenSearch both = choose(made, reach, 0.5);
  EXPECT_EQ(both.asked.probing.clusters, 10u);
  EXPECT_EQ(both.asked.list, 50u);
}

TEST(RecallGoal, WhatIsOutOfReachSaysWhatWasReached) {
  MadeUpSearch made;
  EXPECT_THAT(tests::message_of([&] { (void)choose(made, {.bounds = {.list = 50}}, 0.95); }),
              AllOf(HasSubstr("recall 0.95 is out of reach"), HasSubstr("list = 50 it is 0.5000")));
  SearchReach few{.bounds = {.kind = layout::IndexKind::cluster, .clusters = 4}};
  MadeUpSearch clusters{.clusters = true};
  EXPECT_THAT(tests::message_of([&] { (void)choose(clusters, few, 0.95); }),
              HasSubstr("clusters to probe = 4"));
}

/// A condition may leave fewer than k rows: what an exact search does not find is not wanted.
TEST(RecallGoal, CountsWhatAnExactSearchFinds) {
  MadeUpSearch made{.missing = 3};
  EXPECT_EQ(choose(made, {}, 1.0).asked.list, 100u);
  MadeUpSearch none{.missing = 4};
  EXPECT_EQ(choose(none, {}, 1.0).asked.list, 4u);
}

}  // namespace
}  // namespace farvec::measure
