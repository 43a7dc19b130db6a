#include "cli/batch_search.h"

#include <csignal>

#include "cli/interrupt.h"
#include "tests/unit/cli/slotted_fixture.h"

namespace farvec::cli {
namespace {

class BatchSearchTest : public DiskTierTest {
 protected:
  BatchOutcome search(const BatchParameters& parameters, std::uint32_t cores = 1) {
    SlottedSearchOptions options = this->options();
    options.cores = cores;
    const auto made = DiskTier(pages(), directory_, index_).make_cores(options);
    return run_batch(made, indexes().queries(), parameters, results_);
  }

  void SetUp() override {
    parameters_.list = kList;
    parameters_.width = 4;
  }

  BatchParameters parameters_;
  dataset::GroundTruth results_;
};

TEST_F(BatchSearchTest, ATimeThatIsOverLeavesOneSearchOnEachCore) {
  parameters_.limit_ms = 1e-6;
  parameters_.repeats = 1000;
  EXPECT_EQ(search(parameters_).latency_us.size(), 1u);
  EXPECT_EQ(search(parameters_, 2).latency_us.size(), 2u);
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
