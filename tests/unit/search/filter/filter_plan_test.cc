#include "search/filter/filter_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/core/core_part.h"
#include "tests/unit/search/graph_fixture.h"

namespace farvec::search {
namespace {

/// As many rows are compared as take as long as the reads of a walk: m estimates against
/// list * n / m reads.
TEST(FilterPlan, ComparesMoreRowsWhereReadsAreDear) {
  const SmallGraph small;
  const double rows = kGraphCount;
  // Lists far above the rows there are, so that the bound is above 8,192.
  constexpr std::uint32_t kList = 1u << 20;
  for (const std::uint32_t request_bytes : {0u, 31u, 320u, 16384u, 1u << 20}) {
    const double estimates_per_read = kGraphDegree + std::floor(request_bytes / 32.0);
    const double most = static_cast<double>(most_scanned(small.index(), kList, request_bytes));
    EXPECT_NEAR(most, kList * rows / most * estimates_per_read, most / 1000) << request_bytes;
  }
  EXPECT_EQ(most_scanned(small.index(), 10, 0), 8192u);
  EXPECT_EQ(most_scanned(small.index(), 10, 16384), 8192u);
}

TEST(FilterPlan, CodesInRecordsSayNothingOfRows) {
  const SmallGraph small(layout::LayoutKind::inlined);
  for (const std::uint32_t request_bytes : {0u, 16384u}) {
    EXPECT_EQ(most_scanned(small.index(), 800, request_bytes),
              static_cast<std::uint64_t>(std::sqrt(800.0 * kGraphCount)));
  }
}

TEST(FilterPlan, PartsKnowWhatARequestCosts) {
  const SmallGraph small;
  coroutines::Scheduler scheduler;
  SearchCoreOptions options = graph_core_options(2);
  for (const std::uint32_t request_bytes : {0u, 16384u}) {
    options.request_bytes = request_bytes;
    EXPECT_EQ(make_part(small.index(), small.region(), options, scheduler)->request_bytes(),
              request_bytes);
    EXPECT_EQ(make_part(small.index(), small.endpoint(), options, scheduler)->request_bytes(),
              request_bytes);
  }
}

}  // namespace
}  // namespace farvec::search
