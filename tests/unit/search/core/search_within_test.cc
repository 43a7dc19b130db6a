#include "search/core/search_within.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace farvec::search {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t kRows = 500;
constexpr Ticks kForever = std::numeric_limits<Ticks>::max();

/// Row i is at the distance i; notes what it was asked for.
class RowsInALine final : public CorePart {
 public:
  std::uint32_t slots() const override { return 1; }
  bool poll() override { return false; }
  CoreStatistics statistics() const override { return {}; }
  Status search(std::uint32_t, const SearchRequest& request, SearchAnswer& answer) override {
    asked.emplace_back(request.parameters.k(), size_of(request.parameters.choice()));
    answer.counts = {};
    answer.counts.reads = 10;
    answer.counts.matches = kRows;
    answer.found = 0;
    if (asked.size() == fails_at) return {StatusCode::unavailable, "the rows are gone"};
    answer.found = std::min(request.parameters.k(), kRows);
    for (std::uint32_t i = 0; i < answer.found; ++i) {
      answer.ids[i] = i;
      answer.distances[i] = static_cast<float>(i);
    }
    return {};
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> asked;  ///< k, and list or clusters
  std::size_t fails_at = 0;                                    ///< the search that fails, from 1 on
};

class SearchWithin : public ::testing::Test {
 protected:
  Status search(float within, std::uint32_t k, const SearchChoice& choice, Ticks deadline) {
    ids_.assign(k, 0);
    distances_.assign(k, 0);
    answer_.ids = ids_.data();
    answer_.distances = distances_.data();
    request_.parameters = SearchParameters::make(k, choice).value();
    request_.within = within;
    request_.deadline = deadline;
    return search_within(part_, 0, request_, answer_);
  }
  Status search(float within, std::uint32_t k, std::uint32_t list) {
    return search(within, k, GraphChoice{.list = list}, kForever);
  }

  RowsInALine part_;
  SearchRequest request_;
  SearchAnswer answer_;
  std::vector<std::uint64_t> ids_;
  std::vector<float> distances_;
};

TEST_F(SearchWithin, LooksForMoreWhileAllAreNear) {
  ASSERT_TRUE(search(99.5F, 1000, 1500).ok());
  EXPECT_EQ(answer_.found, 100u);
  EXPECT_EQ(answer_.ids[99], 99u);
  EXPECT_THAT(part_.asked, ElementsAre(std::pair(32, 64), std::pair(64, 96), std::pair(128, 192)));
  EXPECT_EQ(answer_.counts.reads, 30u);
  EXPECT_EQ(answer_.counts.matches, kRows);
}

TEST_F(SearchWithin, EndsAtTheFirstRowThatIsFar) {
  ASSERT_TRUE(search(5, 1000, 1000).ok());
  EXPECT_EQ(answer_.found, 6u);
  EXPECT_EQ(part_.asked.size(), 1u);
  ASSERT_TRUE(search(-1, 1000, 1000).ok());
  EXPECT_EQ(answer_.found, 0u);
  EXPECT_EQ(part_.asked.size(), 2u);
}

TEST_F(SearchWithin, LooksAgainWhereItIsNotKnownWhetherThereAreMore) {
  // Row 31 is the last of the first search and the last that is near.
  ASSERT_TRUE(search(31, 1000, 1000).ok());
  EXPECT_EQ(answer_.found, 32u);
  EXPECT_EQ(part_.asked.size(), 2u);
}

TEST_F(SearchWithin, EndsWithAllRows) {
  ASSERT_TRUE(search(1e9F, 1000, 1000).ok());
  EXPECT_EQ(answer_.found, kRows);
  EXPECT_THAT(part_.asked.back(), std::pair(512u, 512u));
}

TEST_F(SearchWithin, EndsWithTheMostThatWereAskedFor) {
  ASSERT_TRUE(search(1e9F, 100, 300).ok());
  EXPECT_EQ(answer_.found, 100u);
  EXPECT_THAT(part_.asked, ElementsAre(std::pair(32, 96), std::pair(64, 192), std::pair(100, 300)));
  part_.asked.clear();
  ASSERT_TRUE(search(1e9F, 10, 40).ok());
  EXPECT_EQ(answer_.found, 10u);
  EXPECT_THAT(part_.asked, ElementsAre(std::pair(10, 40)));
}

TEST_F(SearchWithin, SearchesOnceWhereFewerResultsCostAsMuch) {
  ASSERT_TRUE(search(99.5F, 300, ProbeChoice{.clusters = 7}, kForever).ok());
  EXPECT_EQ(answer_.found, 100u);
  request_.exact = true;
  ASSERT_TRUE(search(99.5F, 300, 300).ok());
  EXPECT_EQ(answer_.found, 100u);
  EXPECT_THAT(part_.asked, ElementsAre(std::pair(300, 7), std::pair(300, 300)));
}

TEST_F(SearchWithin, FailsAsThePartDoesAndTellsItsCost) {
  part_.fails_at = 2;
  const Status status = search(1e9F, 1000, 1000);
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_EQ(answer_.found, 0u);
  EXPECT_EQ(answer_.counts.reads, 20u);
}

TEST_F(SearchWithin, BeginsNoSearchAfterItsDeadline) {
  const Status status = search(1e9F, 1000, GraphChoice{.list = 1000}, 0);
  EXPECT_EQ(status.code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(answer_.found, 0u);
  EXPECT_EQ(part_.asked.size(), 1u);
}

}  // namespace
}  // namespace farvec::search
