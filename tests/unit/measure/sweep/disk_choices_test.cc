#include "measure/sweep/disk_choices.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::measure {
namespace {

using slotted::SearchKind;

TEST(DiskArguments, AreAProductOfLists) {
  layout::Manifest manifest;
  manifest.graph().make_slotted();
  manifest.regions.resize(2);
  manifest.regions[0].payload_bytes = 36'000'000;
  manifest.regions[1].payload_bytes = 4'000'000;
  search::DiskArguments arguments;
  arguments.memory_budget = "5000000,20%";
  arguments.search = "best-first,beam";
  arguments.pool = "page";
  arguments.prefetch = "on,off";
  const auto choices = disk_choices(arguments, manifest);
  ASSERT_EQ(choices.size(), 8u);
  EXPECT_EQ(choices.front().memory_budget, 5000000u);
  EXPECT_EQ(choices.back().memory_budget, search::parse_budget("20%", manifest));
  EXPECT_EQ(choices.back().search, SearchKind::beam);
  EXPECT_FALSE(choices.back().prefetch);
  EXPECT_TRUE(choices.back().page_search);
  EXPECT_THROW((void)one_disk_choice(arguments, manifest), Error);
  arguments.page_search = "off,on";
  EXPECT_EQ(disk_choices(arguments, manifest).size(), 16u);
  EXPECT_FALSE(disk_choices(arguments, manifest).front().page_search);
  EXPECT_FALSE(one_disk_choice({}, manifest).memory_budget.has_value());

  std::uint64_t bytes = 0;
  for (const auto& region : manifest.regions) bytes += region.file_bytes();
  EXPECT_EQ(search::parse_budget("100%", manifest), bytes);
  EXPECT_EQ(search::parse_budget("12345", manifest), 12345u);
  EXPECT_EQ(search::parse_budget("64KiB", manifest), 65536u);
  for (const char* text : {"x", "%", "-1%", "0%", "101%", "1.5", ""}) {
    EXPECT_THROW((void)search::parse_budget(text, manifest), Error) << text;
  }
  arguments.search = "worst-first";
  EXPECT_THROW((void)disk_choices(arguments, manifest), Error);
}

TEST(DiskArguments, OfOtherLayoutsAreBudgetsAlone) {
  const layout::Manifest manifest;
  search::DiskArguments arguments;
  arguments.memory_budget = "5000000,6000000";
  const auto choices = disk_choices(arguments, manifest);
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices.back().memory_budget, 6000000u);
  ASSERT_EQ(disk_choices({}, manifest).size(), 1u);
}

}  // namespace
}  // namespace farvec::measure
