#include "ssd_baseline/paged/placement/partition_share.h"

#include <gtest/gtest.h>

namespace farvec::paged {
namespace {

TEST(PartitionShare, APageIsEarnedByHalfOfItsVertices) {
  layout::HnswShape shape{.page_bytes = 4096, .dimension = 64, .m = 4};
  // 12 + 256 bytes of element, 4 + 8 * 6 of neighbours and two slots of 4: 12 on a page.
  ASSERT_EQ(shape.vertex_bytes(0), 320u);
  EXPECT_EQ(wishes_for_a_page(shape), 6u);
  shape.dimension = 900;
  EXPECT_EQ(wishes_for_a_page(shape), 1u);  // one vertex to a page
}

TEST(PartitionShare, IsBoundedByPagesOfVertices) {
  layout::HnswState state;
  state.pages_of(layout::HnswPageKind::vertices) = 57;
  for (const std::uint32_t there : {0u, 1u, 4u}) {
    state.insert_pages = there;
    EXPECT_TRUE(may_have_insert_page(state, 100'000)) << there;
  }
  state.insert_pages = 5;  // 6 are more than 5.7
  EXPECT_FALSE(may_have_insert_page(state, 100'000));
  EXPECT_TRUE(may_have_insert_page(state, 1'000'000));
  state.insert_pages = 57;
  EXPECT_FALSE(may_have_insert_page(state, 1'000'000));
  state.insert_pages = 0;
  EXPECT_FALSE(may_have_insert_page(state, 0));
}

TEST(PartitionShare, IsKnownWhenHalfOfEveryInsertPageCouldBeFull) {
  const layout::HnswShape shape{.page_bytes = 4096, .dimension = 64, .m = 4};
  layout::HnswState state;
  state.insert_pages = 20;
  EXPECT_FALSE(tells_who_receives(shape, state, 119));
  EXPECT_TRUE(tells_who_receives(shape, state, 120));
}

}  // namespace
}  // namespace farvec::paged
