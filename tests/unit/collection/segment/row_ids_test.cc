#include "collection/segment/row_ids.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(RowIds, FindsManyAtOnce) {
  Random random(7);
  for (const std::size_t rows : {0u, 1u, 5u, 1000u}) {
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < rows; ++i) all.push_back(10 * i + random.below(10));
    if (rows > 100) std::reverse(all.begin() + 40, all.end() - 50);
    const RowIds ids(all);
    for (const std::uint64_t step : {1u, 3u, 40u, 5000u}) {
      std::vector<std::uint64_t> asked;
      for (std::uint64_t id = random.below(20); id < 10 * rows + 30; id += 1 + random.below(step)) {
        asked.push_back(id);
      }
      std::vector<NodeId> expected;
      for (const std::uint64_t id : asked) {
        if (const auto row = ids.find(id)) expected.push_back(*row);
      }
      std::vector<NodeId> found;
      ids.find_all(asked, found);
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(RowIds, FindsRowsBetweenTwoIds) {
  Random random(5);
  for (const bool sorted : {true, false}) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < 300; ++i) all.push_back(10 * i + random.below(10));
    if (!sorted) std::reverse(all.begin() + 40, all.end() - 50);
    const RowIds ids(all);
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t first = random.below(3200);
      const std::uint64_t end = random.below(3200);
      std::vector<std::uint64_t> expected;
      for (const std::uint64_t id : all) {
        if (id >= first && id < end) expected.push_back(id);
      }
      std::sort(expected.begin(), expected.end());
      std::vector<std::uint64_t> found;
      for (const NodeId row : ids.between(first, end)) found.push_back(ids.of(row));
      EXPECT_EQ(found, expected);
    }
  }
  EXPECT_TRUE(RowIds({}).between(0, 10).empty());
}

}  // namespace
}  // namespace farvec::collection
