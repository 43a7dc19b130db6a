// Tests of the engine's program, asked through its channel.
#include "tests/unit/postgres/engine/engine_program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace farvec::postgres::tests {
namespace {

TEST_F(EngineProgram, InsertsAndSearches) {
  start();
  const Table table(1500);
  EXPECT_EQ(index().open().rows, 0u);
  insert(table);
  EXPECT_EQ(index().covers(1501).status, 0);
  const ToldState state = index().state();
  EXPECT_EQ(state.rows, 1500u);
  EXPECT_EQ(state.covered, 1501u);
  EXPECT_EQ(state.ready, 1u);
  EXPECT_GT(state.memory, 1500 * kDimension * sizeof(float));
  expect_answers(table);
}

TEST_F(EngineProgram, AnIndexThatLacksRowsAnswersNothing) {
  start();
  const Table table(50);
  index().open();
  insert(table);
  const Told told = index().search(table.bytes(0, 1), 5, 10);
  EXPECT_EQ(told.status, kPrecondition);
  EXPECT_NE(told.text().find("catch up"), std::string::npos) << told.text();
  EXPECT_EQ(index().state().ready, 0u);
  EXPECT_EQ(index().state().covered, 0u);
}

TEST_F(EngineProgram, ErasedRowsAreNotFoundAndErasingAgainIsHarmless) {
  start();
  Table table(300);
  index().open();
  insert(table);
  insert(table);  // again: nothing comes twice
  EXPECT_EQ(index().state().rows, 300u);
  index().covers(301);
  const std::vector<std::uint64_t> gone(table.vids.begin(), table.vids.begin() + 100);
  EXPECT_EQ(index().erase(gone).status, 0);
  EXPECT_EQ(index().erase(gone).status, 0);
  table.vids.erase(table.vids.begin(), table.vids.begin() + 100);
  table.floats.erase(table.floats.begin(), table.floats.begin() + 100 * kDimension);
  EXPECT_EQ(index().state().rows, 200u);
  expect_answers(table);
}

TEST_F(EngineProgram, MoreRowsThanThereAreAreAllOfThem) {
  start();
  const Table table(30);
  index().open();
  insert(table);
  index().covers(31);
  const Told told = index().search(table.bytes(0, 1), 100, 10);
  EXPECT_EQ(told.head<ToldFound>().complete, 1u);
  EXPECT_EQ(AskedIndexOf::rows_of(told).size(), 30u);
  const Told filtered = index().search(table.bytes(0, 1), 100, 10, "id < 11");
  EXPECT_EQ(filtered.status, 0) << filtered.text();
  EXPECT_EQ(AskedIndexOf::rows_of(filtered).size(), 10u);
}

TEST_F(EngineProgram, DroppedIndexesLeaveNothing) {
  start();
  const Table table(200);
  index().open();
  insert(table);
  index().covers(201);
  expect_answers(table);
  EXPECT_TRUE(fs::exists(all_ / kName));
  EXPECT_EQ(index().drop().status, 0);
  EXPECT_FALSE(fs::exists(all_ / kName));
  EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10).status, kNotFound);
  EXPECT_EQ(index().drop().status, 0) << "to drop it again is harmless";
  EXPECT_EQ(index().open().rows, 0u);
}

TEST_F(EngineProgram, AnIndexThatBeginsIsEmpty) {
  start();
  const Table table(50);
  index().open();
  insert(table);
  index().covers(51);
  AskOpen begins = kShape;
  begins.begins = 1;
  const auto state = asking_->ask_with(kAskOpen, begins).head<ToldState>();
  EXPECT_EQ(state.rows, 0u);
  EXPECT_EQ(state.covered, 0u);
  EXPECT_EQ(state.ready, 0u);
  EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10).status, kPrecondition);
}

TEST_F(EngineProgram, RowsOfABuildBecomeOneSegment) {
  start();
  const Table table(3000);
  begin_build();
  insert(table);
  EXPECT_EQ(index().state().rows, 0u) << "they wait";
  EXPECT_GT(index().state().memory, 3000 * kDimension * sizeof(float));
  const ToldBuild told = build();
  EXPECT_EQ(told.rows, 3000u);
  EXPECT_EQ(told.linked, 3000u);
  EXPECT_EQ(index().state().rows, 3000u);
  EXPECT_GT(index().state().bytes, 3000 * kDimension * sizeof(float)) << "in a segment";
  index().covers(3001);
  expect_answers(table);
  kill_and_start();
  EXPECT_EQ(index().open().rows, 3000u);
  index().covers(3001);
  expect_answers(table);
}

TEST_F(EngineProgram, RowsThatHaveNoRoomTogetherBecomeSeveralSegments) {
  // A third of the memory is for rows that wait, of which 680 have room there.
  start({"--memory", "4MiB"});
  shape_.dimension = 512;
  const Table table(1200, 1, 1, shape_.dimension);
  begin_build();
  insert(table, 40);
  EXPECT_EQ(index().state().rows, 680u) << "the first ones made room";
  const ToldBuild told = build();
  EXPECT_EQ(told.rows, 1200u);
  EXPECT_EQ(told.linked, 1200u);
  EXPECT_EQ(index().state().rows, 1200u);
  index().covers(1201);
  expect_answers(table);
}

TEST_F(EngineProgram, RowsThatHaveNoRoomNowAreNotIn) {
  start({"--memory", "4MiB"});
  shape_.dimension = 512;
  const Table table(720, 1, 1, shape_.dimension);
  begin_build();
  for (std::size_t i = 0; i < 680; i += 40) {
    EXPECT_TRUE(insert_part(table, i, 40).bytes.empty()) << i;
  }
  EXPECT_EQ(insert_part(table, 680, 40).bytes.size(), 1u) << "a segment is begun";
  wait_for_room();
  EXPECT_EQ(index().state().rows, 680u);
  EXPECT_EQ(build().rows, 680u);
  EXPECT_TRUE(insert_part(table, 680, 40).bytes.empty()) << "as rows of an insert";
  EXPECT_EQ(index().state().rows, 720u);
}

TEST_F(EngineProgram, ABuildTakesTheRowsThatAnInsertTakes) {
  start();
  Table table(20);
  begin_build();
  table.floats[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(index().insert(table.vids, table.bytes(0, 20)).status, kInvalid);
  EXPECT_EQ(build().rows, 0u);
  EXPECT_EQ(build().finished, 1u) << "nothing is built any more";
}

TEST_F(EngineProgram, AnIndexOfAFileThatAnotherHadTakesItsPlace) {
  start();
  index().open();
  AskOpen later = kShape;
  later.index.number = 7;
  index(later).open();
  EXPECT_FALSE(fs::exists(all_ / kName));
  AskOpen elsewhere = kShape;
  elsewhere.index.database = 6;
  index(elsewhere).open();
  EXPECT_EQ(asking_->ask_with(kAskList, AskList{}).head<ToldList>().count, 2u);
}

TEST_F(EngineProgram, AStandbyThatCoversMoreIsSearchedAndNeverReady) {
  start();
  const Table table(50);
  index().open();
  insert(table);
  EXPECT_EQ(asking_->ask_with(kAskCovers, AskVid{kShape.index, 51, 0, 0}).status, 0);
  EXPECT_EQ(index().state().ready, 0u);
  EXPECT_EQ(index().state().covered, 51u);
  expect_answers(table);
}

TEST_F(EngineProgram, ReadsVectors) {
  start();
  const Table table(50);
  index().open();
  insert(table);
  const std::vector<std::uint64_t> vids{3, 1000, 1};
  const Told told =
      asking_->ask_with(kAskGet, AskRows{kShape.index, 3, 0, 0, 0}, std::as_bytes(std::span(vids)));
  ASSERT_EQ(told.status, 0) << told.text();
  ASSERT_EQ(told.bytes.size(), 3 + 2 * kDimension * sizeof(float));
  EXPECT_EQ(told.bytes[0], std::byte{1});
  EXPECT_EQ(told.bytes[1], std::byte{0});
  EXPECT_EQ(told.bytes[2], std::byte{1});
  EXPECT_EQ(std::memcmp(told.bytes.data() + 3, table.row(2).data(), kDimension * 4), 0);
  EXPECT_EQ(
      std::memcmp(told.bytes.data() + 3 + kDimension * 4, table.row(0).data(), kDimension * 4), 0);
}

TEST_F(EngineProgram, ListsItsIndexes) {
  start();
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 1; number <= 5; ++number) {
    AskOpen shape = kShape;
    shape.index.number = number;
    shape.index.file = static_cast<std::uint32_t>(100 + number);
    index(shape).open();
    numbers.push_back(number);
  }
  const Told told = asking_->ask_with(kAskList, AskList{});
  ASSERT_EQ(told.status, 0) << told.text();
  const auto list = told.head<ToldList>();
  EXPECT_EQ(list.more, 0u);
  ASSERT_EQ(list.count, 5u);
  std::vector<std::uint64_t> found;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    AskedIndex name;
    std::memcpy(&name, told.bytes.data() + sizeof(list) + i * sizeof(name), sizeof(name));
    found.push_back(name.number);
    EXPECT_EQ(name.file, 100 + name.number);
  }
  EXPECT_EQ(found, numbers);
  const AskList after{.after = {3, 1663, 5, 103, 0}};
  EXPECT_EQ(asking_->ask_with(kAskList, after).head<ToldList>().count, 2u);
  const auto summary = asking_->ask(kAskSummary, {}).head<ToldSummary>();
  EXPECT_EQ(summary.indexes, 5u);
  EXPECT_EQ(summary.open, 5u);
}

TEST_F(EngineProgram, WrongRequestsAreRefusedAndHarmNothing) {
  start();
  const Table table(100);
  index().open();
  insert(table);
  index().covers(101);
  AskOpen shape = kShape;
  shape.index.number = 2;
  shape.type = 77;
  EXPECT_EQ(asking_->ask_with(kAskOpen, shape).status, kInvalid);
  shape.type = 0;
  shape.dimension = 0;
  EXPECT_EQ(asking_->ask_with(kAskOpen, shape).status, kInvalid);
  EXPECT_FALSE(fs::exists(all_ / "1663-5-16384-0000000000000002"));
  EXPECT_EQ(asking_->ask(77, {}).status, kInvalid);
  EXPECT_EQ(asking_->ask(kAskSearch, {}).status, kInvalid);
  EXPECT_EQ(asking_->ask_with(kAskInsert, AskRows{kShape.index, 4'000'000'000u, 48, 0, 0}).status,
            kInvalid);
  EXPECT_EQ(asking_->ask_with(kAskErase, AskRows{kShape.index, 1, 0, 0, 0}).status, kInvalid);
  EXPECT_EQ(index().search(table.bytes(0, 2), 5, 10).status, kInvalid);
  EXPECT_EQ(index().search(table.bytes(0, 1), 0, 10).status, kInvalid);
  EXPECT_EQ(index().search(table.bytes(0, 1), ASK_MOST_ROWS + 1, 10).status, kInvalid);
  EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10, "colour = 'red'").status, kInvalid);
  Table bad(1, 101);
  bad.floats[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(index().insert(bad.vids, bad.bytes(0, 1)).status, kInvalid);
  EXPECT_EQ(index().search(bad.bytes(0, 1), 5, 10).status, kInvalid);
  EXPECT_EQ(index().insert(bad.vids, std::as_bytes(std::span(bad.floats).first(11))).status,
            kInvalid);
  const std::vector<std::uint64_t> twice{101, 101};
  EXPECT_EQ(index().insert(twice, table.bytes(0, 2)).status, kInvalid);
  shape = kShape;
  shape.dimension = 13;
  EXPECT_EQ(asking_->ask_with(kAskOpen, shape).status, kPrecondition);
  shape.index.number = 3;
  EXPECT_EQ(asking_->ask_with(kAskState, shape.index).status, kNotFound);
  expect_answers(table);
}

TEST_F(EngineProgram, ARefusedSearchKeepsNoIndexFromBeingMadeAgain) {
  start();
  const Table table(50);
  index().open();
  insert(table);
  index().covers(51);
  EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10, "colour = 'red'").status, kInvalid);
  AskOpen begins = kShape;
  begins.begins = kAskBegins;
  const Told told = asking_->ask_with(kAskOpen, begins);
  EXPECT_EQ(told.status, 0) << told.text();
}

TEST_F(EngineProgram, SearchesOfManyProcessesAreTheirOwn) {
  start();
  const Table table(1000);
  index().open();
  insert(table);
  index().covers(1001);
  std::vector<pid_t> children;
  for (std::size_t c = 0; c < 6; ++c) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    Asking asking(segment_);
    AskedIndexOf mine(asking, kShape);
    for (std::size_t i = c; i < 600; i += 3) {
      // A row's nearest row is itself.
      const std::vector<Row> rows = mine.rows(table.bytes(i, 1), 1, 200);
      if (rows.size() != 1 || rows[0].vid != table.vids[i]) _exit(1);
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace farvec::postgres::tests
