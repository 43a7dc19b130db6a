#include "layout/attributes/updated_tuples.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace farvec::layout {
namespace {

using Expected = std::map<NodeId, std::string>;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

UpdatedTuples plus(const UpdatedTuples& updates, const Expected& more) {
  std::vector<NodeId> rows;
  Tuples tuples;
  for (const auto& [row, text] : more) {
    rows.push_back(row);
    tuples.append(bytes_of(text));
  }
  return updates.with(rows, tuples.view());
}

void expect_holds(const UpdatedTuples& updates, const Expected& expected, NodeId rows) {
  ASSERT_EQ(updates.count(), expected.size());
  std::vector<NodeId> numbers;
  for (const auto& [row, text] : expected) numbers.push_back(row);
  EXPECT_EQ(updates.rows(), numbers);
  for (NodeId row = 0; row < rows; ++row) {
    const auto found = updates.find(row);
    const std::string text(reinterpret_cast<const char*>(found.data()), found.size());
    const auto known = expected.find(row);
    ASSERT_EQ(text, known == expected.end() ? "" : known->second) << row;
  }
}

TEST(UpdatedTuples, AreThoseThatCameLast) {
  constexpr NodeId kRows = 3 * UpdatedTuples::kBlockRows + 17;
  Random random(5);
  UpdatedTuples updates;
  Expected expected;
  expect_holds(updates, expected, kRows);
  for (int round = 0; round < 40; ++round) {
    const UpdatedTuples before = updates;
    const Expected known = expected;
    Expected more;
    for (std::uint64_t i = random.below(200); i > 0; --i) {
      const auto row = static_cast<NodeId>(random.below(kRows));
      more[row] = std::string(1 + random.below(9), static_cast<char>('a' + round % 26));
    }
    updates = plus(updates, more);
    EXPECT_EQ(updates.comes_after(before), round > 0);
    EXPECT_FALSE(before.comes_after(updates));
    EXPECT_FALSE(updates.comes_after(updates));
    for (const auto& [row, text] : more) expected[row] = text;
    std::vector<NodeId> beyond;
    for (const auto& [row, text] : more) beyond.push_back(row);
    EXPECT_EQ(updates.rows_beyond(before), beyond) << "equal tuples are new ones too";
    expect_holds(before, known, kRows);
  }
  expect_holds(updates, expected, kRows);
  std::size_t bytes = 0;
  for (const auto& [row, text] : expected) bytes += text.size();
  EXPECT_GE(updates.dram_bytes(), bytes + expected.size() * 16);
  EXPECT_EQ(updates.rows_beyond({}), updates.rows());
  EXPECT_FALSE(plus({}, {{1, "a"}}).comes_after(updates)) << "it was made from another one";
}

TEST(UpdatedTuples, OfNoRowsAreNone) {
  const UpdatedTuples none = UpdatedTuples().with({}, {});
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.find(0).empty());
  EXPECT_TRUE(none.rows_beyond({}).empty());
}

}  // namespace
}  // namespace farvec::layout
