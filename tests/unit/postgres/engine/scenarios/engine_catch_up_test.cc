// Tests of catching up: what an engine lacks after an end is told again, and what has no entry
// goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/postgres/engine/engine_program.h"

namespace farvec::postgres::tests {
namespace {

/// The rows of a table at these places.
template <typename Keeps>
Table part_of(const Table& table, const Keeps& keeps) {
  Table part(0, 1, 1, table.dimension);
  for (std::size_t i = 0; i < table.vids.size(); ++i) {
    if (!keeps(i)) continue;
    part.vids.push_back(table.vids[i]);
    part.floats.insert(part.floats.end(), table.row(i).begin(), table.row(i).end());
  }
  return part;
}

class EngineCatchUp : public EngineProgram {
 protected:
  /// Catches up with a table, and expects how many rows lacked.
  void expect_lacked(const Table& table, std::size_t expected) {
    std::size_t lacked = 0;
    ASSERT_EQ(catch_up(table, lacked), 0);
    EXPECT_EQ(lacked, expected);
    EXPECT_EQ(index().state().rows, table.vids.size());
    EXPECT_EQ(index().state().ready, 1u);
    expect_answers(table);
  }
  AskLacks pass(std::uint64_t number, std::uint32_t flags, std::uint64_t until) const {
    return {.index = {}, .from = 0, .until = until, .number = number, .count = 0, .pass = flags};
  }
};

TEST_F(EngineCatchUp, RowsOfSegmentsAreThereAfterAKillAndFreshOnesLack) {
  start();
  const Table table(3500);
  build_of(part_of(table, [](std::size_t i) { return i < 3000; }));
  insert(part_of(table, [](std::size_t i) { return i >= 3000; }));
  EXPECT_EQ(index().state().rows, 3500u);
  expect_lacked(table, 0);
  kill_and_start();
  EXPECT_EQ(index().open().rows, 3000u);
  EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10).status, kPrecondition);
  expect_lacked(table, 500);
  engine_->close_input();
  EXPECT_EQ(engine_->end(), 0);
  start();
  expect_lacked(table, 500);
}

TEST_F(EngineCatchUp, ThereIsNoLog) {
  start();
  build_of(Table(100));
  insert(Table(100, 1001));
  EXPECT_FALSE(fs::exists(all_ / kName / "collection" / "log"));
}

TEST_F(EngineCatchUp, WhatHasNoEntryIsErased) {
  start();
  const Table table(5000);
  build_of(part_of(table, [](std::size_t i) { return i < 4000; }));
  insert(part_of(table, [](std::size_t i) { return i >= 4000; }));
  expect_lacked(part_of(table, [](std::size_t i) { return i % 7 != 3; }), 0);
  // Pages that are there no more: VIDs 1,024 to 3,071.
  expect_lacked(part_of(table,
                        [&](std::size_t i) {
                          return i % 7 != 3 && (table.vids[i] >> ASK_PLACE_BITS) % 4 % 3 == 0;
                        }),
                0);
}

TEST_F(EngineCatchUp, RowsOutOfTheRangeStayAsTheyAre) {
  start();
  const Table table(3000);
  build_of(table);
  AskLacks asked = pass(0, 0, 2000);
  asked.from = 1500;
  std::vector<AskPage> pages(3);
  for (std::uint64_t i = 0; i < pages.size(); ++i) pages[i].number = i;
  EXPECT_EQ(vids_in(index().lacks(asked, pages), pages).size(), 0u);
  EXPECT_EQ(index().state().rows, 2500u);
  expect_answers(
      part_of(table, [&](std::size_t i) { return table.vids[i] < 1500 || table.vids[i] >= 2000; }));
  // All live, and only those of the range are told to lack.
  for (AskPage& page : pages) std::fill(page.live.words, page.live.words + ASK_PAGE_WORDS, ~0ull);
  const std::vector<std::uint64_t> lack = vids_in(index().lacks(asked, pages), pages);
  ASSERT_EQ(lack.size(), 500u);
  EXPECT_EQ(lack.front(), 1500u);
  EXPECT_EQ(lack.back(), 1999u);
}

TEST_F(EngineCatchUp, APassThatWasGivenUpTakesNothingFromAnother) {
  start();
  const Table table(3000);
  build_of(table);
  const std::vector<AskPage> pages = pages_of(table.vids);
  const std::span<const AskPage> all(pages);
  // The first request of an earlier pass comes late.
  EXPECT_EQ(index().lacks(pass(2, ASK_PASS_BEGINS, 3001), all.first(2)).status, 0);
  EXPECT_EQ(index().lacks(pass(1, ASK_PASS_BEGINS, 3001), all.first(1)).status, 0);
  EXPECT_EQ(index().lacks(pass(2, ASK_PASS_ENDS, 3001), all.subspan(2)).status, 0);
  EXPECT_EQ(index().state().rows, 3000u);
  // An end without a beginning is none.
  kill_and_start();
  EXPECT_EQ(index().open().rows, 3000u);
  EXPECT_EQ(index().lacks(pass(2, ASK_PASS_ENDS, 3001), all.subspan(2)).status, 0);
  EXPECT_EQ(index().state().rows, 3000u);
  expect_lacked(table, 0);
}

TEST_F(EngineCatchUp, WhatIsSaidOfAnotherOpeningDoesNotCount) {
  start();
  const Table table(100);
  const ToldState state = index().open();
  EXPECT_NE(state.opening, 0u);
  insert(table);
  EXPECT_EQ(index().covers(101, state.opening + 1).status, 0);
  EXPECT_EQ(index().state().ready, 0u);
  EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10).status, kPrecondition);
  EXPECT_EQ(index().covers(101, state.opening).status, 0);
  expect_answers(table);
}

TEST_F(EngineCatchUp, PagesThatCannotBeAreRefused) {
  start();
  build_of(Table(100));
  const std::vector<AskPage> many(ASK_MOST_PAGES + 1);
  EXPECT_EQ(index().lacks(pass(1, 0, 101), many).status, kInvalid);
  std::vector<AskPage> far(1);
  far[0].number = ~0ull;
  EXPECT_EQ(index().lacks(pass(1, 0, 101), far).status, kInvalid);
  EXPECT_EQ(
      asking_
          ->ask_with(
              kAskLacks,
              AskLacks{
                  .index = shape_.index, .from = 0, .until = 1, .number = 1, .count = 3, .pass = 0})
          .status,
      kInvalid);
  EXPECT_EQ(index().state().rows, 100u);
}

TEST_F(EngineCatchUp, WhatWasErasedAWhileAgoStaysErased) {
  start();
  const Table table(300);
  build_of(table);
  EXPECT_EQ(index().erase(std::span(table.vids).first(100)).status, 0);
  const fs::path segments = all_ / kName / "collection" / "segments";
  const auto has_file = [&] {
    return std::any_of(fs::directory_iterator(segments), fs::directory_iterator(),
                       [](const fs::directory_entry& entry) { return entry.is_regular_file(); });
  };
  for (int i = 0; i < 3000 && !has_file(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  // The manifest that names the file is written after it.
  std::size_t rows = 300;
  for (int i = 0; i < 100 && rows == 300; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill_and_start();
    rows = index().open().rows;
  }
  EXPECT_EQ(rows, 200u);
}

TEST_F(EngineCatchUp, ManyRowsAreFoundAtOnceAndBecomeASegment) {
  start();
  const Table table(20'000);
  index().open();
  for (std::size_t i = 0; i < table.vids.size(); i += 1000) {
    const Told told = index().tell(std::span(table.vids).subspan(i, 1000), table.bytes(i, 1000));
    ASSERT_EQ(told.status, 0) << told.text();
  }
  EXPECT_EQ(index().covers(20'001).status, 0);
  EXPECT_EQ(index().state().rows, 20'000u);
  const Table queries(3, 1, 5);
  for (std::size_t i = 0; i < queries.vids.size(); ++i) {
    EXPECT_EQ(vids_of(index().rows(queries.bytes(i, 1), 10, ASK_MOST_ROWS)),
              vids_of(nearest(table, queries.row(i), 10)));
  }
  for (int i = 0; i < 6000 && index().state().bytes == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GT(index().state().bytes, 20'000 * kDimension * sizeof(float));
  EXPECT_EQ(index().state().rows, 20'000u);
  expect_answers(table);
}

/// The engine is killed at random moments: while it is told rows, while it makes a segment of them,
/// and while it is asked what it lacks.
TEST_F(EngineCatchUp, KillsAtAnyMomentLoseNothing) {
  std::mt19937 random(17);
  const Table table(12'000);
  start();
  build_of(part_of(table, [](std::size_t i) { return i < 2000; }));
  std::size_t finished = 0;
  for (int turn = 0; turn < 12; ++turn) {
    const std::size_t rows = 3000 + 750 * static_cast<std::size_t>(turn);
    const Table now = part_of(table, [&](std::size_t i) { return i < rows && i % 11 != 5; });
    const auto pause = std::chrono::milliseconds(random() % 400);
    std::thread killer([&] {
      std::this_thread::sleep_for(pause);
      kill(engine_->pid(), SIGKILL);
    });
    std::size_t lacked = 0;
    finished += catch_up(now, lacked) == 0 ? 1 : 0;
    killer.join();
    kill_and_start();
    ASSERT_EQ(catch_up(now, lacked), 0);
    EXPECT_EQ(index().state().rows, now.vids.size());
    expect_answers(now);
  }
  RecordProperty("finished before the kill", static_cast<int>(finished));
}

}  // namespace
}  // namespace farvec::postgres::tests
