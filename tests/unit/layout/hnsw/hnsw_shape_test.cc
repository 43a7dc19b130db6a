#include "layout/hnsw/hnsw_shape.h"

#include <gtest/gtest.h>

#include "tests/unit/layout/hnsw/hnsw_page.h"

namespace farvec::layout {
namespace {

using testing::HnswPage;

TEST(HnswShape, PlacesOfLayersLieOneBehindTheOther) {
  const HnswShape shape{.dimension = 3, .m = 5};
  EXPECT_EQ(shape.degree(0), 10u);
  EXPECT_EQ(shape.degree(2), 5u);
  EXPECT_EQ(shape.place_offset(0, 0), sizeof(HnswNeighborsHeader));
  EXPECT_EQ(shape.place_offset(1, 0), shape.place_offset(0, 9) + HnswPlace::kBytes);
  EXPECT_EQ(shape.place_offset(2, 0), shape.place_offset(1, 4) + HnswPlace::kBytes);
  EXPECT_EQ(shape.neighbors_bytes(2), shape.place_offset(2, 4) + HnswPlace::kBytes);
}

TEST(HnswShape, HandlesAreTwoWays) {
  for (const HnswPlace place : {HnswPlace{}, HnswPlace{0, 0}, HnswPlace{0x12345678, 0xabcd}}) {
    EXPECT_EQ(HnswPlace::of(place.handle()), place);
  }
  EXPECT_TRUE(HnswPlace{}.empty());
  EXPECT_LT(HnswPlace{}.handle(), std::uint64_t{1} << 48);
}

TEST(HnswShape, HasRoomExactlyWhenAVertexFits) {
  for (const std::uint32_t page_bytes : {4096u, 8192u, 32768u}) {
    for (const std::uint32_t dimension : {1u, 7u, 96u, 200u}) {
      const HnswShape shape{.page_bytes = page_bytes, .dimension = dimension, .m = 8};
      const std::vector<std::byte> vector(shape.vector_bytes(), std::byte{1});
      HnswPage page(shape);
      NodeId id = 0;
      for (;; ++id) {
        const auto level = static_cast<std::uint8_t>(id % 3);
        const bool room = has_vertex_room(shape, page.bytes, level);
        HnswPage after = page;
        ASSERT_EQ(after.add(id, level, vector), room) << "vertex " << id;
        if (!room) break;
        page = after;
      }
      ASSERT_GT(id, 1u);
      // What one leaves, another of its level takes, at the same slots.
      const auto first = page.vertex(0);
      ASSERT_TRUE(first.ok());
      const auto level = first.value().level();
      ASSERT_TRUE(page.erase(0).ok() && page.erase(1).ok());
      EXPECT_TRUE(has_vertex_room(shape, page.bytes, level));
    }
  }
}

TEST(HnswShape, NamesThePageThatWouldDo) {
  HnswShape shape{.page_bytes = 4096, .dimension = 512};
  EXPECT_EQ(highest_hnsw_level(shape), 11u);
  EXPECT_EQ(least_hnsw_page_bytes(shape), 4096u);
  shape.dimension = 1000;
  EXPECT_FALSE(highest_hnsw_level(shape).has_value());
  EXPECT_EQ(least_hnsw_page_bytes(shape), 8192u);
  shape.page_bytes = 8192;
  EXPECT_EQ(highest_hnsw_level(shape), kHnswMaxLevel);
  shape.dimension = 4096;
  EXPECT_EQ(least_hnsw_page_bytes(shape), 32768u);
  shape.m = 4000;
  EXPECT_EQ(least_hnsw_page_bytes(shape), 0u);
}

}  // namespace
}  // namespace farvec::layout
