#include "cli/search/batch_search.h"

#include <csignal>

#include "cli/interrupt.h"
#include "tests/unit/cli/slotted_fixture.h"

namespace farvec::cli {
namespace {

class BatchSearchTest : public SlottedSearchTest {
 protected:
  BatchOutcome search(const BatchParameters& parameters, std::uint32_t cores = 1) {
    SlottedSearchOptions options = this->options();
    options.cores = cores;
    const auto made = cores_at(pages(), options);
    return run_batch(made, indexes().queries(), parameters, results_);
  }

  void SetUp() override { parameters_.search = Queries::parameters_of({}); }

  BatchParameters parameters_;
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

TEST_F(BatchSearchTest, AnInterruptEndsIt) {
  {
    const InterruptGuard watch;
    EXPECT_FALSE(interrupted());
    std::raise(SIGINT);
    EXPECT_TRUE(interrupted());
    EXPECT_EQ(search(parameters_).latency_us.size(), 0u);
  }
  const InterruptGuard again;
  EXPECT_FALSE(interrupted());
}

}  // namespace
}  // namespace farvec::cli
