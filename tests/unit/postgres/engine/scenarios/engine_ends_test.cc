// Tests of what an engine has after it has ended in some way, and of the bound of its memory.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/postgres/engine/engine_program.h"

namespace farvec::postgres::tests {
namespace {

TEST_F(EngineProgram, AnIndexIsOpenedByAnyRequestAfterARestart) {
  start();
  const Table table(100);
  build_of(table);
  kill_and_start();
  EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10).status, kPrecondition);
  EXPECT_EQ(index().covers(101).status, 0);
  expect_answers(table);
}

/// When a search is taken, and how long it takes, is the machine's: so waits of all lengths are
/// tried until one ends in the middle of a search.
TEST_F(EngineProgram, ASearchThatIsGivenUpEnds) {
  start();
  const Table table(20'000);
  build_of(table);
  const Table query(1, 1, 99);
  const AskSearch asked{.index = kShape.index,
                        .k = ASK_MOST_ROWS,
                        .list = ASK_MOST_ROWS,
                        .query_bytes = kDimension * sizeof(float),
                        .filter_bytes = 0,
                        .deadline_ms = 3'600'000,
                        .zero = 0};
  std::vector<std::byte> request(sizeof(asked));
  std::memcpy(request.data(), &asked, sizeof(asked));
  const auto bytes = query.bytes(0, 1);
  request.insert(request.end(), bytes.begin(), bytes.end());
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  bool ended = false;
  for (int i = 0; !ended && std::chrono::steady_clock::now() < until; ++i) {
    const Told told =
        asking_->give_up_after(std::chrono::microseconds(100 * (i % 50)), kAskSearch, request);
    ended = told.status == kCallGivenUp && told.text().find("while it ran") != std::string::npos;
    EXPECT_TRUE(told.status == kCallGivenUp || told.status == kCallDone) << told.text();
  }
  EXPECT_TRUE(ended);
  expect_answers(table);
}

TEST_F(EngineProgram, ACopyOfAFolderBeginsAnew) {
  start();
  const Table table(100);
  build_of(table);
  engine_->kill_now();
  const fs::path copy = folder_.path() / "copy";
  fs::copy(all_, copy, fs::copy_options::recursive);
  const fs::path segment = folder_.path() / "farvec-copy";
  RunningEngine other(copy, segment);
  Asking asking(segment);
  const ToldState state = AskedIndexOf(asking, kShape).open();
  EXPECT_EQ(state.covered, 0u);
  EXPECT_EQ(state.rows, 0u);
  EXPECT_NE(other.log().find("copy of the folder"), std::string::npos) << other.log();
}

TEST_F(EngineProgram, WhatKilledEnginesOfTheServerHaveLeftGoes) {
  const fs::path all = folder_.path() / "segments";
  fs::create_directory(all);
  const auto make = [&](const char* name) { std::ofstream(all / name) << "left"; };
  for (const char* name :
       {"farvec-1a-1", "farvec-1a-22", "farvec-1b-1", "farvec-1", "other-1a-1"}) {
    make(name);
  }
  const fs::path segment = all / "farvec-1a-3";
  const RunningEngine engine(all_, segment);
  const Asking asking(segment);
  for (const char* name : {"farvec-1a-1", "farvec-1a-22"}) EXPECT_FALSE(fs::exists(all / name));
  for (const char* name : {"farvec-1b-1", "farvec-1", "other-1a-1"}) {
    EXPECT_TRUE(fs::exists(all / name)) << name;
  }
}

TEST_F(EngineProgram, ACopyOfARunningEnginesFolderLeavesItsSegmentAlone) {
  start();
  const Table table(100);
  index().open();
  insert(table);
  index().covers(101);
  const fs::path copy = folder_.path() / "copy";
  fs::copy(all_, copy, fs::copy_options::recursive);
  {
    const fs::path segment = folder_.path() / "farvec-copy";
    RunningEngine other(copy, segment);
    Asking asking(segment);
    EXPECT_EQ(AskedIndexOf(asking, kShape).open().covered, 0u);
  }
  EXPECT_TRUE(fs::exists(segment_)) << "others could not reach the engine";
  expect_answers(table);
}

TEST_F(EngineProgram, DamagedFilesBeginAnewAndTheLogSaysSo) {
  for (const char* file : {"covered", "collection/collection.json"}) {
    SCOPED_TRACE(file);
    start();
    const Table table(100);
    build_of(table);
    engine_->kill_now();
    {
      std::fstream bytes(all_ / kName / file, std::ios::in | std::ios::out | std::ios::binary);
      ASSERT_TRUE(bytes.is_open());
      bytes.seekp(20);
      bytes.write("\x7f\x7f\x7f\x7f", 4);
    }
    start();
    const ToldState state = index().open();
    EXPECT_EQ(state.covered, 0u);
    EXPECT_EQ(state.rows, 0u);
    EXPECT_NE(engine_->log().find("begins anew"), std::string::npos) << engine_->log();
    insert(table);
    index().covers(101);
    expect_answers(table);
    EXPECT_EQ(index().drop().status, 0);
    engine_->kill_now();
  }
}

TEST_F(EngineProgram, DamagedRecordsBeginAnewToo) {
  start();
  const Table table(3000);
  build_of(table);
  const fs::path segments = all_ / kName / "collection" / "segments";
  engine_->close_input();
  EXPECT_EQ(engine_->end(), 0);
  fs::path largest;
  for (const auto& entry : fs::recursive_directory_iterator(segments)) {
    if (!entry.is_regular_file()) continue;
    if (largest.empty() || entry.file_size() > fs::file_size(largest)) largest = entry.path();
  }
  ASSERT_FALSE(largest.empty());
  {
    std::fstream bytes(largest, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(fs::file_size(largest) / 2));
    bytes.write("\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 8);
  }
  start();
  const ToldState state = index().open();
  EXPECT_EQ(state.covered, 0u) << largest;
  EXPECT_EQ(state.rows, 0u);
  EXPECT_NE(engine_->log().find("begins anew"), std::string::npos) << engine_->log();
}

TEST_F(EngineProgram, TwoEnginesDoNotShareAFolder) {
  start();
  RunningEngine other(all_, folder_.path() / "farvec-other");
  EXPECT_EQ(other.end(), 1);
  EXPECT_NE(other.log().find(all_.string()), std::string::npos) << other.log();
  EXPECT_NE(other.log().find("another process"), std::string::npos) << other.log();
  EXPECT_FALSE(fs::exists(folder_.path() / "farvec-other"));
  EXPECT_EQ(index().open().rows, 0u) << "the first one goes on";
}

TEST_F(EngineProgram, TheMemoryHasABound) {
  start({"--memory", "1500KiB"});
  const Table table(20'000);
  index().open();
  Told told;
  std::size_t rows = 0;
  for (; rows < table.vids.size() && told.status == 0; rows += 100) {
    told = index().insert(std::span(table.vids).subspan(rows, 100), table.bytes(rows, 100));
  }
  EXPECT_EQ(told.status, kExhausted) << told.text();
  EXPECT_NE(told.text().find("memory"), std::string::npos) << told.text();
  index().covers(rows);
  EXPECT_EQ(index().rows(table.bytes(0, 1), 1, 10).size(), 1u) << "searches go on";
}

TEST_F(EngineProgram, AnIndexThatIsNotUsedMakesRoomForAnother) {
  start({"--memory", "1500KiB"});
  const Table table(4000);
  index().open();
  insert(table);
  index().covers(4001);
  expect_answers(table);
  AskOpen other = kShape;
  other.index.number = 2;
  other.index.file = 2;
  AskedIndexOf second = index(other);
  second.open();
  // The first one was used a moment ago, and goes when that is a second ago. The memory has no room
  // for it and for as many rows as these.
  const Table more(12'000);
  std::size_t rows = 0;
  const auto is_closed = [&] { return engine_->log().find("is closed") != std::string::npos; };
  for (; rows < more.vids.size() && !is_closed(); rows += 100) {
    const auto part = std::span(more.vids).subspan(rows, 100);
    Told told = second.insert(part, more.bytes(rows, 100));
    for (int tries = 0; tries < 3000 && told.status == kExhausted; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      told = second.insert(part, more.bytes(rows, 100));
    }
    ASSERT_EQ(told.status, 0) << told.text();
  }
  ASSERT_TRUE(is_closed()) << engine_->log();
  second.covers(rows + 1);
  EXPECT_EQ(second.rows(more.bytes(0, 1), 1, 100).size(), 1u);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  // It comes back without its fresh rows, and answers nothing before it was told them again.
  EXPECT_EQ(index().open().ready, 0u);
  EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10).status, kPrecondition);
  std::size_t lacked = 0;
  EXPECT_EQ(catch_up(table, lacked), 0);
  EXPECT_EQ(lacked, 4000u);
  expect_answers(table);
}

TEST_F(EngineProgram, RowsThatWaitForABuildMakeNoRoom) {
  start({"--memory", "1500KiB"});
  const Table table(3000);
  begin_build();
  insert(table);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  AskOpen other = kShape;
  other.index.number = 2;
  other.index.file = 2;
  AskedIndexOf second = index(other);
  second.open();
  const Table more(20'000);
  Told told;
  for (std::size_t i = 0; i < more.vids.size() && told.status == 0; i += 100) {
    told = second.insert(std::span(more.vids).subspan(i, 100), more.bytes(i, 100));
  }
  EXPECT_EQ(told.status, kExhausted) << told.text();
  EXPECT_EQ(engine_->log().find("is closed"), std::string::npos) << engine_->log();
  EXPECT_EQ(build().rows, 3000u);
  index().covers(3001);
  EXPECT_EQ(index().state().rows, 3000u);
  expect_answers(table);
}

TEST_F(EngineProgram, EndsWithTheServerAndCleansUpAfterAKill) {
  start();
  engine_->close_input();
  EXPECT_EQ(engine_->end(), 0);
  EXPECT_FALSE(fs::exists(segment_));
  EXPECT_TRUE(channel_has_ended(asking_->channel()));
  start();
  kill(engine_->pid(), SIGTERM);
  EXPECT_EQ(engine_->end(), 0);
  EXPECT_FALSE(fs::exists(segment_));
  start();
  engine_->kill_now();
  const fs::path next = folder_.path() / "farvec-next";
  RunningEngine other(all_, next);
  Asking asking(next);
  EXPECT_FALSE(fs::exists(segment_)) << "the next engine removes what a killed one left";
}

}  // namespace
}  // namespace farvec::postgres::tests
