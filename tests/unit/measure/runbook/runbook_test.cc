#include "measure/runbook/runbook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/error.h"

namespace farvec::measure {
namespace {

using ::testing::HasSubstr;

RunbookStep step(std::uint32_t number, StepKind kind, NodeId begin = 0, NodeId end = 0) {
  return {.number = number, .kind = kind, .begin = begin, .end = end, .first_id = begin};
}

std::string fault_of(const Runbook& runbook, std::uint64_t rows, std::uint32_t k) {
  try {
    check_runbook(runbook, rows, k);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LiveSetTest, FollowsAMapUnderRandomSteps) {
  constexpr NodeId kIds = 60;
  LiveSet live(kIds);
  std::map<NodeId, NodeId> expected;
  std::mt19937 random(7);
  std::uint32_t number = 0;
  for (int round = 0; round < 3000; ++round) {
    const NodeId begin = random() % kIds;
    RunbookStep next = step(++number, static_cast<StepKind>(random() % 3), begin,
                            begin + 1 + random() % (kIds - begin));
    if (next.kind == StepKind::replace) next.first_id = random() % kIds;
    bool fits = next.first_id + next.count() <= kIds;
    for (NodeId i = 0; fits && i < next.count(); ++i) {
      fits = expected.contains(next.first_id + i) == (next.kind != StepKind::insert);
    }
    if (!fits) {
      LiveSet copy = live;
      EXPECT_THROW(copy.apply(next), Error);
      continue;
    }
    live.apply(next);
    for (NodeId i = 0; i < next.count(); ++i) {
      if (next.kind == StepKind::erase) {
        expected.erase(next.first_id + i);
      } else {
        expected[next.first_id + i] = next.begin + i;
      }
    }
    ASSERT_EQ(live.count(), expected.size());
    std::vector<NodeId> ids;
    for (const auto& [id, row] : expected) {
      ids.push_back(id);
      EXPECT_EQ(live.row_of(id), row);
    }
    ASSERT_EQ(live.ids(), ids);
  }
  EXPECT_FALSE(live.holds(kIds));
}

TEST(CheckRunbookTest, TellsTheMostThatAreLive) {
  const Runbook runbook{"x",
                        0,
                        {step(1, StepKind::insert, 0, 40), step(2, StepKind::erase, 0, 10),
                         step(3, StepKind::insert, 40, 45), step(4, StepKind::search)}};
  EXPECT_EQ(check_runbook(runbook, 50, 10), 40u);
}

TEST(CheckRunbookTest, NamesTheStepThatIsWrong) {
  const auto insert = step(1, StepKind::insert, 0, 40);
  const auto search = step(2, StepKind::search);
  EXPECT_THAT(fault_of({"x", 0, {insert, step(2, StepKind::insert, 39, 41)}}, 50, 10),
              HasSubstr("step 2 of the runbook (insert) names id 39, which is there already"));
  EXPECT_THAT(fault_of({"x", 0, {insert, step(2, StepKind::erase, 39, 41)}}, 50, 10),
              HasSubstr("step 2 of the runbook (delete) names id 40, which is not there"));
  EXPECT_THAT(fault_of({"x", 0, {insert, search}}, 39, 10), HasSubstr("the data has 39 rows"));
  EXPECT_THAT(fault_of({"x", 0, {insert, search}}, 50, 41), HasSubstr("when 40 vectors are"));
  EXPECT_THAT(fault_of({"x", 39, {insert, search}}, 50, 10), HasSubstr("max_pts of 39"));
  EXPECT_THAT(fault_of({"x", 0, {insert}}, 50, 10), HasSubstr("searches nothing"));
}

}  // namespace
}  // namespace farvec::measure
