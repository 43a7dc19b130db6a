#include "attributes/columns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace farvec::attributes {
namespace {

using layout::Value;
using Texts = std::vector<std::string>;

/// A row's id is its number.
IdLookup plain_ids(const Columns& columns) {
  return {[&columns](std::uint64_t id) -> std::optional<NodeId> {
            if (id >= columns.rows()) return std::nullopt;
            return static_cast<NodeId>(id);
          },
          [](NodeId row) { return std::uint64_t{row}; }};
}

std::uint64_t count(const Columns& columns, const char* text, const layout::Schema& schema) {
  return columns.matching(*parse_condition(text, schema), plain_ids(columns)).cardinality();
}

TEST(Columns, OfNoRowsMatchNothing) {
  const layout::Schema schema = layout::parse_schema("i: i64, s: string, l: set, p: bytes");
  const Columns columns(schema, layout::Tuples().view());
  EXPECT_EQ(columns.rows(), 0u);
  for (const char* text : {"true", "i = 1", "i != 1", "s = 'a'", "not l contains any ('a')",
                           "p is null", "id >= 5", "id != 7"}) {
    EXPECT_EQ(count(columns, text, schema), 0u) << text;
  }
}

TEST(Columns, WithoutColumnsKnowTheirRows) {
  layout::Tuples tuples;
  for (int i = 0; i < 3; ++i) tuples.append(layout::Schema(), {});
  const Columns columns(layout::Schema(), tuples.view());
  EXPECT_EQ(columns.rows(), 3u);
  EXPECT_EQ(columns.dram_bytes(), 0u);
  EXPECT_EQ(count(columns, "true", {}), 3u);
  EXPECT_EQ(count(columns, "id > 0", {}), 2u);
}

TEST(Columns, ThatAreNewerThanTheRowsAreNull) {
  const layout::Schema schema = layout::parse_schema("i: i64");
  const layout::Schema longer = layout::parse_schema("i: i64, s: string, l: set, n: u64");
  layout::Tuples tuples;
  for (std::int64_t i = 0; i < 10; ++i) tuples.append(schema, std::vector<Value>{i});
  for (const Columns& columns : {Columns(schema, tuples.view()), Columns(longer, tuples.view())}) {
    EXPECT_EQ(count(columns, "s is null and l is null and n is null", longer), 10u);
    EXPECT_EQ(count(columns, "n is not null", longer), 0u);
    EXPECT_EQ(count(columns, "n = 0 or s = 'a' or l contains any ('a') or i < 5", longer), 5u);
    EXPECT_EQ(count(columns, "not (n = 0 or s = 'a')", longer), 0u);
    EXPECT_EQ(count(columns, "not (n = 0 and i < 5)", longer), 5u);
  }
}

TEST(Columns, OfPartOfTheTuplesBeginWithRow0) {
  const layout::Schema schema = layout::parse_schema("i: i64");
  layout::Tuples tuples;
  for (std::int64_t i = 0; i < 10; ++i) tuples.append(schema, std::vector<Value>{i});
  const Columns columns(schema, tuples.view().part(4, 3));
  EXPECT_EQ(columns.rows(), 3u);
  const RowBitmap rows = columns.matching(*parse_condition("i = 5", schema), plain_ids(columns));
  EXPECT_EQ(rows.cardinality(), 1u);
  EXPECT_TRUE(rows.contains(1));
}

/// Ids are asked for one by one where few are wanted, or few are not, and row by row elsewhere.
TEST(Columns, AskForFewIdsOnly) {
  layout::Tuples tuples;
  for (int i = 0; i < 1000; ++i) tuples.append(layout::Schema(), {});
  const Columns columns(layout::Schema(), tuples.view());
  int found = 0;
  int read = 0;
  const IdLookup ids{[&](std::uint64_t id) -> std::optional<NodeId> {
                       ++found;
                       if (id % 2 == 1 || id >= 2000) return std::nullopt;
                       return static_cast<NodeId>(id / 2);
                     },
                     [&](NodeId row) {
                       ++read;
                       return std::uint64_t{2} * row;
                     }};
  const auto count_of = [&](const char* text) {
    found = read = 0;
    return columns.matching(*parse_condition(text, {}), ids).cardinality();
  };
  EXPECT_EQ(count_of("id in (2, 3, 4, 5000)"), 2u);
  EXPECT_EQ(found + read, 4);
  EXPECT_EQ(count_of("id not in (2, 3, 4)"), 998u);
  EXPECT_EQ(found + read, 3);
  EXPECT_EQ(count_of("id <= 100"), 51u);
  EXPECT_EQ(read, 0);
  EXPECT_EQ(count_of("id between 100 and 99999"), 950u);
  EXPECT_EQ(found, 0);
  EXPECT_EQ(read, 1000);
}

/// Labels of few rows are in lists, and those of many in bitmaps.
TEST(Columns, HaveRareLabelsBesideCommonOnes) {
  const layout::Schema schema = layout::parse_schema("l: set");
  layout::Tuples tuples;
  for (std::uint32_t i = 0; i < 70'000; ++i) {
    Texts labels{i % 2 == 0 ? "even" : "odd", "rare" + std::to_string(i / 7)};
    if (i % 10'000 == 1) labels.push_back("first");
    tuples.append(schema, std::vector<Value>{labels});
  }
  const Columns columns(schema, tuples.view());
  EXPECT_EQ(count(columns, "l contains any ('even')", schema), 35'000u);
  EXPECT_EQ(count(columns, "l contains any ('rare3')", schema), 7u);
  EXPECT_EQ(count(columns, "l contains any ('rare3', 'rare9999', 'odd')", schema), 35'006u);
  EXPECT_EQ(count(columns, "l contains all ('rare3', 'even')", schema), 3u);
  EXPECT_EQ(count(columns, "l contains all ('first', 'odd')", schema), 7u);
  EXPECT_EQ(count(columns, "l contains all ('first', 'even')", schema), 0u);
  EXPECT_EQ(count(columns, "l contains all ('first', 'none')", schema), 0u);
  EXPECT_EQ(count(columns, "l contains any ('none')", schema), 0u);
  EXPECT_EQ(count(columns, "not l contains any ('odd', 'rare0')", schema), 34'996u);
}

TEST(Columns, CountTheirBytes) {
  const layout::Schema schema = layout::parse_schema("i: u64, s: string, l: set");
  layout::Tuples tuples;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    tuples.append(schema, std::vector<Value>{i % 200, std::string("s") + std::to_string(i % 300),
                                             Texts{"l" + std::to_string(i % 4)}});
  }
  const std::size_t bytes = Columns(schema, tuples.view()).dram_bytes();
  // They are a byte, two bytes, and four bitmaps with a bit for each row.
  EXPECT_GT(bytes, 350'000u);
  EXPECT_LT(bytes, 375'000u);
}

}  // namespace
}  // namespace farvec::attributes
