#include "layout/index/file_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace farvec::layout {
namespace {

TEST(FilePlacement, EachOfTheFirstNodesHasAllFiles) {
  for (const std::uint32_t nodes : {1u, 3u, PlacedExtent::kMaxCopies, 9u}) {
    Placement placement;
    placement.nodes = nodes;
    add_files(placement, std::array<std::uint64_t, 2>{9, 1'000'000});
    ASSERT_EQ(placement.regions.size(), 2u);
    EXPECT_EQ(placement.regions[0].region_bytes(), kRegionHeaderBytes);
    EXPECT_EQ(placement.regions[1].region_bytes(), 1'000'000u);
    for (const RegionPlacement& region : placement.regions) {
      ASSERT_EQ(region.extents().size(), 1u);
      const PlacedExtent& whole = region.extents().front();
      std::uint32_t holders = 0;
      for (std::uint32_t node = 0; node < nodes; ++node) holders += holds_files(node) ? 1 : 0;
      ASSERT_EQ(whole.copy_count, holders);
      for (std::uint32_t copy = 0; copy < holders; ++copy) {
        EXPECT_EQ(whole.copies[copy].node, copy);
        EXPECT_EQ(whole.copies[copy].offset, 0u);
      }
    }
  }
}

}  // namespace
}  // namespace farvec::layout
