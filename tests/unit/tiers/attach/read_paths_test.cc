#include "tiers/attach/read_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::tiers {
namespace {

TEST(ReadBudget, IsDividedOverTheCores) {
  EXPECT_EQ(reads_per_core(512, 1), 512u);
  EXPECT_EQ(reads_per_core(512, 4), 128u);
  EXPECT_EQ(reads_per_core(10, 4), 2u) << "never more than the budget together";
  EXPECT_EQ(reads_per_core(4, 4), 1u);
}

TEST(ReadBudget, HasAReadForEachCore) {
  try {
    (void)reads_per_core(3, 4);
    FAIL() << "a core without reads";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("budget of 3 outstanding reads"));
  }
}

}  // namespace
}  // namespace farvec::tiers
