// Indexes whose rows have columns beside their vectors: what searches find by a condition, and what
// is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "layout/attributes/tuple.h"
#include "tests/unit/postgres/engine/engine_program.h"

namespace farvec::postgres::tests {
namespace {

using layout::ColumnType;
using layout::Schema;
using layout::Tuples;

const Schema kSchema({{.name = "c1", .type = ColumnType::i64},
                      {.name = "c2", .type = ColumnType::string}});

AskOpen with_columns() {
  AskOpen shape = kShape;
  shape.columns[0] = static_cast<std::uint8_t>(ColumnType::i64);
  shape.columns[1] = static_cast<std::uint8_t>(ColumnType::string);
  return shape;
}

/// The values of some rows: c1 is the VID, and c2 one of ten words, or null.
Tuples values_of(std::span<const std::uint64_t> vids) {
  Tuples tuples;
  for (const std::uint64_t vid : vids) {
    std::vector<layout::Value> values{static_cast<std::int64_t>(vid),
                                      "word " + std::to_string(vid % 10)};
    if (vid % 10 == 7) values[1] = {};
    tuples.append(kSchema, values);
  }
  return tuples;
}

std::vector<std::byte> bytes_of(std::span<const std::byte> vectors, const Tuples& tuples) {
  std::vector<std::byte> bytes(vectors.begin(), vectors.end());
  for (const std::uint64_t end : tuples.ends) {
    const auto narrow = static_cast<std::uint32_t>(end);
    const auto* const from = reinterpret_cast<const std::byte*>(&narrow);
    bytes.insert(bytes.end(), from, from + sizeof(narrow));
  }
  bytes.insert(bytes.end(), tuples.bytes.begin(), tuples.bytes.end());
  return bytes;
}

class EngineColumns : public EngineProgram {
 protected:
  AskedIndexOf columns_index() { return index(with_columns()); }

  Told ask_rows(std::uint32_t operation, std::span<const std::uint64_t> vids,
                std::span<const std::byte> vectors, const Tuples& tuples) {
    const AskRows asked{.index = kShape.index,
                        .count = static_cast<std::uint32_t>(vids.size()),
                        .row_bytes = static_cast<std::uint32_t>(vectors.size() / vids.size()),
                        .deadline_ms = 60'000,
                        .tuple_bytes = static_cast<std::uint32_t>(tuples.bytes.size())};
    return asking_->ask_with(operation, asked, std::as_bytes(vids), bytes_of(vectors, tuples));
  }
  void insert_with_values(const Table& table) {
    for (std::size_t i = 0; i < table.vids.size(); i += 100) {
      const auto vids = std::span(table.vids).subspan(i, 100);
      const Told told = ask_rows(kAskInsert, vids, table.bytes(i, 100), values_of(vids));
      ASSERT_EQ(told.status, 0) << told.text();
    }
  }
  void expect_filtered(const Table& table) {
    Table some(0);
    for (std::size_t i = 0; i < table.vids.size(); ++i) {
      if (table.vids[i] >= 400 || table.vids[i] % 10 != 3) continue;
      some.vids.push_back(table.vids[i]);
      some.floats.insert(some.floats.end(), table.row(i).begin(), table.row(i).end());
    }
    const Table queries(10, 1, 99);
    for (std::size_t i = 0; i < queries.vids.size(); ++i) {
      const Told told = columns_index().search(queries.bytes(i, 1), 5, ASK_MOST_ROWS,
                                               "c1 < 400 and c2 = 'word 3'");
      ASSERT_EQ(told.status, 0) << told.text();
      EXPECT_EQ(vids_of(AskedIndexOf::rows_of(told)), vids_of(nearest(some, queries.row(i), 5)));
      EXPECT_EQ(told.head<ToldFound>().matches, 40u);
    }
  }
};

TEST_F(EngineColumns, SearchesFindRowsThatMeetAConditionAlone) {
  start();
  const Table table(1000);
  EXPECT_EQ(columns_index().open().rows, 0u);
  insert_with_values(table);
  columns_index().covers(1001);
  expect_filtered(table);
}

TEST_F(EngineColumns, RowsOfABuildHaveTheirValuesToo) {
  start();
  const Table table(3000);
  AskOpen builds = with_columns();
  builds.begins = kAskBuilds;
  ASSERT_EQ(asking_->ask_with(kAskOpen, builds).status, 0);
  insert_with_values(table);
  EXPECT_EQ(build().rows, 3000u);
  columns_index().covers(3001);
  expect_filtered(table);
  kill_and_start();
  EXPECT_EQ(columns_index().open().rows, 3000u);
  columns_index().covers(3001);
  expect_filtered(table);
}

TEST_F(EngineColumns, ValuesAreCompared) {
  start();
  const Table table(100);
  columns_index().open();
  insert_with_values(table);
  const std::vector<std::uint64_t> vids{3, 7, 5, 5000};
  Tuples tuples = values_of(std::span(vids).first(2));
  tuples.append(kSchema, std::vector<layout::Value>{std::int64_t{5}, std::string("other")});
  tuples.append(kSchema, std::vector<layout::Value>{std::int64_t{1}, std::string("not there")});
  const Told told = ask_rows(kAskSame, vids, {}, tuples);
  ASSERT_EQ(told.status, 0) << told.text();
  const std::vector<std::byte> expected{std::byte{1}, std::byte{1}, std::byte{0}, std::byte{1}};
  EXPECT_EQ(told.bytes, expected);
}

TEST_F(EngineColumns, ValuesThatCannotBeAreRefused) {
  start();
  const Table table(2);
  columns_index().open();
  const Tuples sound = values_of(table.vids);
  const auto refused = [&](const Tuples& tuples) {
    for (const std::uint32_t operation : {kAskInsert, kAskInsertAgain, kAskTell}) {
      EXPECT_EQ(ask_rows(operation, table.vids, table.bytes(0, 2), tuples).status, kInvalid);
    }
    EXPECT_EQ(ask_rows(kAskSame, table.vids, {}, tuples).status, kInvalid);
  };
  Tuples damaged = sound;
  damaged.bytes[0] = std::byte{9};  // columns
  refused(damaged);
  damaged = sound;
  damaged.ends[0] = std::numeric_limits<std::uint32_t>::max();
  refused(damaged);
  damaged = sound;
  damaged.ends[1] = std::numeric_limits<std::uint32_t>::max();
  refused(damaged);
  damaged = sound;
  std::swap(damaged.ends[0], damaged.ends[1]);
  refused(damaged);
  damaged = sound;
  damaged.bytes.pop_back();
  refused(damaged);
  damaged = sound;
  damaged.bytes.back() = std::byte{0xff};  // no UTF-8
  refused(damaged);
  EXPECT_EQ(columns_index().state().rows, 0u);
  AskOpen wrong = with_columns();
  wrong.columns[1] = 200;
  EXPECT_EQ(asking_->ask_with(kAskOpen, wrong).status, kInvalid);
}

TEST_F(EngineColumns, OtherColumnsBeginAnew) {
  start();
  const Table table(100);
  AskOpen builds = with_columns();
  builds.begins = kAskBuilds;
  ASSERT_EQ(asking_->ask_with(kAskOpen, builds).status, 0);
  insert_with_values(table);
  EXPECT_EQ(build().rows, 100u);
  EXPECT_EQ(asking_->ask_with(kAskOpen, kShape).status, kPrecondition) << "it is open";
  kill_and_start();
  EXPECT_EQ(index().open().rows, 0u);
  const Told told = index().search(table.bytes(0, 1), 5, 10, "c1 < 5");
  EXPECT_NE(told.status, 0);
}

TEST_F(EngineColumns, AConditionThatIsWrongIsRefused) {
  start();
  const Table table(100);
  columns_index().open();
  insert_with_values(table);
  columns_index().covers(101);
  for (const char* filter : {"c3 = 1", "c1 = 'text'", "c1 <", "c2 = 'open", "true or"}) {
    EXPECT_EQ(columns_index().search(table.bytes(0, 1), 5, 10, filter).status, kInvalid) << filter;
  }
}

}  // namespace
}  // namespace farvec::postgres::tests
