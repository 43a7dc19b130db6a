#include "collection/segment/row_ids.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "base/random.h"

namespace farvec::collection {
namespace {

TEST(RowIds, FindsEveryIdAndNoOther) {
  Random random(11);
  for (const std::size_t rows : {0, 1, 2, 200}) {
    std::map<std::uint64_t, NodeId> expected;
    std::vector<std::uint64_t> all;
    while (all.size() < rows) {
      const std::uint64_t id = random.below(3 * rows) * 0x100000001;
      if (expected.emplace(id, static_cast<NodeId>(all.size())).second) all.push_back(id);
    }
    const RowIds ids(all);
    ASSERT_EQ(ids.rows(), rows);
    for (const auto& [id, row] : expected) {
      EXPECT_EQ(ids.of(row), id);
      EXPECT_EQ(ids.find(id), row);
    }
    for (std::uint64_t i = 0; i < 3 * rows + 2; ++i) {
      const std::uint64_t id = i * 0x100000001;
      EXPECT_EQ(ids.find(id).has_value(), expected.contains(id)) << id;
    }
    EXPECT_GE(ids.dram_bytes(), rows * (sizeof(std::uint64_t) + sizeof(NodeId)));
  }
}

}  // namespace
}  // namespace farvec::collection
