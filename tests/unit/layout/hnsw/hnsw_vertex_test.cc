#include "layout/hnsw/hnsw_vertex.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/layout/hnsw/hnsw_page.h"

namespace farvec::layout {
namespace {

using testing::HnswPage;

const HnswShape kShape{.dimension = 5, .type = ElementType::u8, .m = 3, .max_level = 6};

std::vector<std::byte> some_vector() {
  return {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
}

TEST(HnswVertex, IsReadAsItWasWritten) {
  HnswPage page(kShape);
  ASSERT_TRUE(page.add(77, 0, some_vector()));
  ASSERT_TRUE(page.add(0xfffffffe, 2, some_vector()));
  const auto vertex = page.vertex(2);
  ASSERT_TRUE(vertex.ok());
  EXPECT_EQ(vertex.value().id(), 0xfffffffe);
  EXPECT_EQ(vertex.value().level(), 2u);
  EXPECT_FALSE(vertex.value().marked());
  EXPECT_EQ(vertex.value().neighbors_slot(), 3u);
  EXPECT_TRUE(
      std::equal(vertex.value().vector(), vertex.value().vector() + 5, some_vector().begin()));
  for (std::uint32_t layer = 0; layer <= 2; ++layer) {
    EXPECT_EQ(vertex.value().places(kShape, layer).size(), kShape.degree(layer) * 6);
    for (std::uint32_t i = 0; i < kShape.degree(layer); ++i) {
      EXPECT_TRUE(vertex.value().neighbor(kShape, layer, i).empty());
    }
  }
}

TEST(HnswVertex, PlacesAreReadAsTheyWerePatched) {
  HnswPage page(kShape);
  ASSERT_TRUE(page.add(1, 1, some_vector()));
  std::array<std::byte, HnswPlace::kBytes> place;
  store_place(place.data(), {123456, 789});
  PageChange patch;
  patch.change = ChangeKind::patch;
  patch.slot = 1;
  patch.offset = static_cast<std::uint16_t>(kShape.place_offset(1, 2));
  patch.bytes = place;
  ASSERT_TRUE(layout::apply_change(page.bytes, patch).ok());
  EXPECT_EQ(page.vertex(0).value().neighbor(kShape, 1, 2), (HnswPlace{123456, 789}));
  EXPECT_TRUE(page.vertex(0).value().neighbor(kShape, 1, 1).empty());
}

TEST(HnswVertex, IsNotFoundWhereThereIsNone) {
  HnswPage page(kShape);
  ASSERT_TRUE(page.add(1, 0, some_vector()));
  for (const int slot : {1, 2, 0xffff}) {
    EXPECT_EQ(page.vertex(static_cast<std::uint16_t>(slot)).status().code(), StatusCode::not_found);
  }
  ASSERT_TRUE(page.erase(0).ok());
  EXPECT_EQ(page.vertex(0).status().code(), StatusCode::not_found);
  HnswPage other(kShape, HnswPageKind::id_map);
  ASSERT_TRUE(other.add(1, 0, some_vector()));
  EXPECT_EQ(other.vertex(0).status().code(), StatusCode::not_found);
}

/// Every way in which a byte may contradict the others.
TEST(HnswVertex, DoesNotBelieveItsBytes) {
  const auto with = [](std::uint16_t slot, std::uint16_t offset, std::uint8_t value) {
    HnswPage page(kShape);
    EXPECT_TRUE(page.add(1, 2, some_vector()));
    const auto byte = std::byte{value};
    PageChange patch;
    patch.change = ChangeKind::patch;
    patch.slot = slot;
    patch.offset = offset;
    patch.bytes = {&byte, 1};
    EXPECT_TRUE(layout::apply_change(page.bytes, patch).ok());
    return page.vertex(0).status().code();
  };
  EXPECT_EQ(with(0, 1, 1), StatusCode::data_loss);  // level
  EXPECT_EQ(with(0, 1, 7), StatusCode::data_loss);
  EXPECT_EQ(with(0, 8, 0), StatusCode::data_loss);  // slot of the neighbours
  EXPECT_EQ(with(0, 8, 9), StatusCode::data_loss);
  EXPECT_EQ(with(1, 0, 1), StatusCode::data_loss);  // kind of the neighbours
  EXPECT_EQ(with(1, 1, 0), StatusCode::data_loss);
  EXPECT_EQ(with(1, 2, 5), StatusCode::data_loss);  // whose they are
  EXPECT_EQ(with(0, 0, 2), StatusCode::not_found);  // no element
  EXPECT_EQ(with(0, 2, 1), StatusCode::ok);         // marked
  HnswShape other = kShape;
  other.dimension = 6;
  HnswPage page(kShape);
  ASSERT_TRUE(page.add(1, 0, some_vector()));
  EXPECT_EQ(HnswVertex::parse(other, page.bytes, 0).status().code(), StatusCode::data_loss);
}

}  // namespace
}  // namespace farvec::layout
