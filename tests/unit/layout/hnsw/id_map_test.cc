#include "layout/hnsw/id_map.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/layout/hnsw/hnsw_page.h"

namespace farvec::layout {
namespace {

TEST(IdMapShape, FitsOnEveryPage) {
  for (std::uint32_t page = kMinStorePageBytes; page <= kMaxStorePageBytes; page *= 2) {
    const IdMapShape map{page};
    for (const std::uint32_t height : {0u, 1u}) {
      EXPECT_LE(map.tuple_bytes(height), max_tuple_bytes(page));
    }
    EXPECT_TRUE(map.reaches(3, kInvalidNode));
  }
}

TEST(IdMapShape, EveryIdHasAWayOfItsOwn) {
  const IdMapShape map{4096};
  std::set<std::vector<std::uint32_t>> ways;
  std::set<std::uint64_t> ids;
  for (const std::uint64_t base : {0ull, 511ull, 512ull, 262143ull, 262144ull, 4294966272ull}) {
    for (std::uint64_t id = base; id < base + 1024 && id <= kInvalidNode; ++id) {
      ids.insert(id);
      std::vector<std::uint32_t> way;
      for (std::uint32_t height = 4; height-- > 0;) {
        const auto offset = map.offset(height, static_cast<NodeId>(id));
        EXPECT_LE(offset + IdMapShape::entry_bytes(height), map.tuple_bytes(height));
        way.push_back(offset);
      }
      ways.insert(way);
    }
  }
  EXPECT_EQ(ways.size(), ids.size());
}

TEST(IdMapShape, ReachesWhatItsHeightAllows) {
  const IdMapShape map{8192};
  EXPECT_TRUE(map.reaches(0, 1023));
  EXPECT_FALSE(map.reaches(0, 1024));
  EXPECT_TRUE(map.reaches(1, (1u << 20) - 1));
  EXPECT_FALSE(map.reaches(1, 1u << 20));
  EXPECT_FALSE(map.reaches(2, kInvalidNode));
}

TEST(IdMap, OfAnotherHeightIsNone) {
  const IdMapShape map{4096};
  HnswShape shape;
  shape.page_bytes = 4096;
  testing::HnswPage page(shape, HnswPageKind::id_map);
  EXPECT_FALSE(id_map_tuple(map, page.bytes, 0).ok());
  ASSERT_TRUE(page.put(0, std::vector<std::byte>(map.tuple_bytes(0))).ok());
  EXPECT_TRUE(id_map_tuple(map, page.bytes, 0).ok());
  EXPECT_FALSE(id_map_tuple(map, page.bytes, 1).ok());
}

}  // namespace
}  // namespace farvec::layout
