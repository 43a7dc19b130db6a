#include "search/core/batch_search.h"

#include <atomic>
#include <thread>
#include <utility>

#include "base/status_error.h"
#include "tests/unit/cli/slotted_fixture.h"

namespace farvec::cli {
namespace {

class BatchSearchTest : public SlottedSearchTest {
 protected:
  search::BatchOutcome search(const search::BatchParameters& parameters, std::uint32_t cores = 1) {
    SlottedSearchOptions options = this->options();
    options.cores = cores;
    const auto made = cores_at(pages(), options);
    return search::run_batch(made, indexes().queries(), parameters, results_);
  }

  void SetUp() override { parameters_.search = Queries::parameters_of({}); }

  search::BatchParameters parameters_;
  dataset::GroundTruth results_;
};

TEST_F(BatchSearchTest, ATimeThatIsOverLeavesOneSearchOnEachCore) {
  parameters_.limit_ms = 1e-6;
  parameters_.repeats = 1000;
  EXPECT_EQ(search(parameters_).latency_us.size(), 1u);
  EXPECT_EQ(search(parameters_, 2).latency_us.size(), 2u);
}

/// A pass that is shorter than all queries goes on where the one before it ended. What a search
/// finds beyond the nearest may depend on what the pool holds.
TEST_F(BatchSearchTest, BeginsWhereItIsTold) {
  search(parameters_);
  const dataset::GroundTruth all = std::exchange(results_, {});
  const std::size_t count = all.queries;
  const auto same = [&](std::size_t row) {
    return results_.ids[row * all.k] == all.ids[row * all.k];
  };
  for (const std::uint64_t first : {std::uint64_t{3}, 2 * std::uint64_t{count} + 5}) {
    parameters_.first = first;
    results_ = {};
    EXPECT_EQ(search(parameters_, 2).latency_us.size(), count);
    for (std::size_t row = 0; row < count; ++row) EXPECT_TRUE(same(row)) << row;
  }
  // One search on each core: of rows 4 and 5, and of no other.
  parameters_.first = count + 4;
  parameters_.limit_ms = 1e-6;
  results_ = {};
  EXPECT_EQ(search(parameters_, 2).latency_us.size(), 2u);
  EXPECT_TRUE(same(4));
  EXPECT_TRUE(same(5));
  EXPECT_FALSE(same(3));
  EXPECT_FALSE(same(6));
}

TEST_F(BatchSearchTest, WhoeverStopsItEndsIt) {
  parameters_.stop = [] { return true; };
  EXPECT_EQ(search(parameters_).latency_us.size(), 0u);
  parameters_.repeats = 1000;
  std::atomic<int> asked{0};
  parameters_.stop = [&asked] { return ++asked > 50; };
  const std::size_t searches = search(parameters_, 2).latency_us.size();
  EXPECT_GT(searches, 0u);
  EXPECT_LE(searches, 50u);
}

TEST_F(BatchSearchTest, TheCallersThreadFindsTheSame) {
  search(parameters_);
  const dataset::GroundTruth pinned = std::exchange(results_, {});
  parameters_.threads = search::BatchThreads::own;
  std::thread::id searched;
  parameters_.stop = [&searched] {
    searched = std::this_thread::get_id();
    return false;
  };
  search(parameters_);
  EXPECT_EQ(searched, std::this_thread::get_id());
  for (std::size_t q = 0; q < pinned.queries; ++q) {
    EXPECT_EQ(results_.ids[q * pinned.k], pinned.ids[q * pinned.k]) << q;
  }
  parameters_.stop = {};
  EXPECT_EQ(search(parameters_, 3).latency_us.size(), pinned.queries);
}

TEST_F(BatchSearchTest, WhatFailsSaysWhichCode) {
  parameters_.deadline_ms = 0;
  try {
    search(parameters_);
    FAIL() << "no search had any time";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code, StatusCode::deadline_exceeded) << error.what();
  }
}

}  // namespace
}  // namespace farvec::cli
