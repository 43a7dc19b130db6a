// Rows of an engine that share a vector: what searches find, what is erased, and what is there
// after kills.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "layout/attributes/tuple.h"
#include "layout/collection/alias_file.h"
#include "tests/unit/postgres/engine/engine_program.h"

namespace farvec::postgres::tests {
namespace {

using Vids = std::vector<std::uint64_t>;

class EngineSharedVectors : public EngineProgram {
 protected:
  Told ask_rows(std::uint32_t operation, std::span<const std::uint64_t> vids,
                std::span<const std::byte> vectors) {
    const AskRows asked{.index = kShape.index,
                        .count = static_cast<std::uint32_t>(vids.size()),
                        .row_bytes = static_cast<std::uint32_t>(vectors.size() / vids.size()),
                        .deadline_ms = 60'000,
                        .tuple_bytes = 0};
    return asking_->ask_with(operation, asked, std::as_bytes(vids), vectors);
  }
  /// Inserts rows with the vectors of a table again, whose VIDs are greater by `more`.
  void insert_again(const Table& table, std::uint64_t more) {
    for (std::size_t i = 0; i < table.vids.size(); i += 100) {
      const std::size_t count = std::min<std::size_t>(100, table.vids.size() - i);
      Vids vids(table.vids.begin() + static_cast<std::ptrdiff_t>(i),
                table.vids.begin() + static_cast<std::ptrdiff_t>(i + count));
      for (std::uint64_t& vid : vids) vid += more;
      const Told told = ask_rows(kAskInsertAgain, vids, table.bytes(i, count));
      ASSERT_EQ(told.status, 0) << told.text();
    }
  }
  /// The VIDs of the nearest `k` vertices' rows, for each distance in ascending order. A vertex
  /// whose last row has gone counts among a search's results until it is out: then more are asked
  /// for.
  Vids found(std::span<const std::byte> query, std::size_t k) {
    for (std::uint32_t asked = static_cast<std::uint32_t>(k);; asked *= 2) {
      std::vector<Row> rows = index().rows(query, asked, ASK_MOST_ROWS);
      EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &Row::distance));
      std::size_t vectors = 0;
      std::size_t count = 0;
      for (; count < rows.size(); ++count) {
        const bool is_next = count == 0 || rows[count].distance != rows[count - 1].distance;
        if (is_next && ++vectors > k) break;
      }
      if (vectors < k && asked < ASK_MOST_ROWS / 2) continue;
      rows.resize(count);
      std::stable_sort(rows.begin(), rows.end(), [](const Row& one, const Row& other) {
        return one.distance != other.distance ? one.distance < other.distance : one.vid < other.vid;
      });
      return vids_of(rows);
    }
  }
  /// Compares with all rows of each vector, where `rows_of` says which these are.
  template <typename RowsOf>
  void expect_rows(const Table& table, const RowsOf& rows_of) {
    const Table queries(10, 1, 99);
    for (std::size_t i = 0; i < queries.vids.size(); ++i) {
      Vids expected;
      std::size_t vectors = 0;
      for (const Row& row : nearest(table, queries.row(i), table.vids.size())) {
        const Vids rows = rows_of(row.vid);
        if (!rows.empty() && ++vectors > 10) break;
        expected.insert(expected.end(), rows.begin(), rows.end());
      }
      ASSERT_EQ(found(queries.bytes(i, 1), 10), expected);
    }
  }
  /// Waits until the file names so many rows that share a vertex.
  void wait_for_aliases(std::size_t count) {
    const auto in_file = [&] { return layout::read_aliases(all_ / kName, kName).aliases.size(); };
    for (int i = 0; i < 3000 && in_file() != count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(in_file(), count);
  }
};

TEST_F(EngineSharedVectors, SearchesFindAllRowsOfAVector) {
  start();
  const Table table(1000);
  index().open();
  insert(table);
  insert_again(table, 1000);
  index().covers(2001);
  EXPECT_EQ(index().state().rows, 2000u);
  expect_rows(table, [](std::uint64_t vid) { return Vids{vid, vid + 1000}; });
  const Told told = index().search(table.bytes(0, 1), 1000, 1000);
  EXPECT_EQ(told.head<ToldFound>().count, 2000u);
  EXPECT_EQ(told.head<ToldFound>().complete, 0u);
  const Told all = index().search(table.bytes(0, 1), 1001, 1001);
  EXPECT_EQ(all.head<ToldFound>().count, 2000u);
  EXPECT_EQ(all.head<ToldFound>().complete, 1u);
  // Only vectors take memory for a vertex.
  wait_for_aliases(1000);
}

TEST_F(EngineSharedVectors, RowsThatGoAreNotFoundAndTheVertexGoesWithTheLast) {
  start();
  const Table table(300);
  index().open();
  insert(table);
  insert_again(table, 1000);
  insert_again(table, 2000);
  index().covers(3000);
  Vids first = table.vids;
  EXPECT_EQ(index().erase(first).status, 0);
  expect_rows(table, [](std::uint64_t vid) { return Vids{vid + 1000, vid + 2000}; });
  EXPECT_EQ(index().state().rows, 600u);
  Vids some;
  for (const std::uint64_t vid : table.vids) some.push_back(vid + 2000);
  EXPECT_EQ(index().erase(some).status, 0);
  expect_rows(table, [](std::uint64_t vid) { return Vids{vid + 1000}; });
  Vids odd;
  for (const std::uint64_t vid : table.vids) {
    if (vid % 2 == 1) odd.push_back(vid + 1000);
  }
  EXPECT_EQ(index().erase(odd).status, 0);
  EXPECT_EQ(index().state().rows, 150u);
  const auto is_left = [](std::uint64_t vid) { return vid % 2 == 1 ? Vids() : Vids{vid + 1000}; };
  wait_for_aliases(150);
  expect_rows(table, is_left);
  EXPECT_EQ(index().state().rows, 150u);
  kill_and_start();
  Table left(0);
  for (std::size_t i = 1; i < table.vids.size(); i += 2) {
    left.vids.push_back(table.vids[i] + 1000);
    left.floats.insert(left.floats.end(), table.row(i).begin(), table.row(i).end());
  }
  std::size_t lacked = 0;
  EXPECT_EQ(catch_up(left, lacked), 0);
  EXPECT_EQ(lacked, 150u) << "the vertices were fresh";
  EXPECT_EQ(index().state().rows, 150u);
  expect_rows(table, is_left);
}

TEST_F(EngineSharedVectors, VectorsAndValuesAreThoseOfTheVertex) {
  start();
  const Table table(50);
  index().open();
  insert(table);
  insert_again(table, 1000);
  EXPECT_EQ(index().erase(table.vids).status, 0);
  const Vids asked{1003, 3, 1004, 9999};
  const AskRows request{kShape.index, 4, 0, 0, 0};
  const Told told = asking_->ask_with(kAskGet, request, std::as_bytes(std::span(asked)));
  ASSERT_EQ(told.status, 0) << told.text();
  std::vector<std::byte> expected{std::byte{1}, std::byte{0}, std::byte{1}, std::byte{0}};
  for (const std::size_t row : {2, 3}) {
    const auto bytes = table.bytes(row, 1);
    expected.insert(expected.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(told.bytes, expected);
}

TEST_F(EngineSharedVectors, RowsThatShareAVectorOutliveKills) {
  start();
  const Table table(500);
  build_of(table);
  insert_again(table, 1000);
  index().covers(2000);
  wait_for_aliases(500);
  kill_and_start();
  Table both(500);
  for (std::size_t i = 0; i < 500; ++i) both.vids.push_back(table.vids[i] + 1000);
  both.floats.insert(both.floats.end(), table.floats.begin(), table.floats.end());
  std::size_t lacked = 0;
  EXPECT_EQ(catch_up(both, lacked), 0);
  EXPECT_EQ(lacked, 0u);
  EXPECT_EQ(index().state().rows, 1000u);
  const Table queries(10, 1, 99);
  for (std::size_t i = 0; i < queries.vids.size(); ++i) {
    std::vector<Row> rows = index().rows(queries.bytes(i, 1), 1000, ASK_MOST_ROWS);
    Vids vids = vids_of(rows);
    std::ranges::sort(vids);
    Vids expected = table.vids;
    for (const std::uint64_t vid : table.vids) expected.push_back(vid + 1000);
    ASSERT_EQ(vids, expected);
  }
}

TEST_F(EngineSharedVectors, ADamagedFileBeginsTheIndexAnew) {
  start();
  const Table table(100);
  index().open();
  insert(table);
  insert_again(table, 1000);
  index().covers(2000);
  wait_for_aliases(100);
  engine_->kill_now();
  fs::resize_file(all_ / kName / layout::kAliasFile, 200);
  start();
  const ToldState state = index().open();
  EXPECT_EQ(state.covered, 0u);
  EXPECT_EQ(state.rows, 0u);
  EXPECT_NE(engine_->log().find("begins anew"), std::string::npos) << engine_->log();
}

TEST_F(EngineSharedVectors, ManyVersionsOfOneRowLeaveRoomForOthers) {
  start();
  Table table(100);
  index().open();
  insert(table);
  // The versions of row 1, which 8,000 updates have left.
  const Table one(1);
  for (std::uint64_t vid = 1000; vid < 9000; vid += 100) {
    Vids vids(100);
    std::vector<float> floats;
    for (std::size_t i = 0; i < 100; ++i) {
      vids[i] = vid + i;
      floats.insert(floats.end(), one.floats.begin(), one.floats.end());
    }
    ASSERT_EQ(ask_rows(kAskInsertAgain, vids, std::as_bytes(std::span(floats))).status, 0);
  }
  index().covers(9000);
  EXPECT_EQ(index().state().rows, 8100u);
  const std::vector<Row> rows = index().rows(one.bytes(0, 1), 50, ASK_MOST_ROWS);
  EXPECT_LE(rows.size(), std::size_t{ASK_MOST_FOUND});
  const Vids vids = vids_of(rows);
  EXPECT_TRUE(std::ranges::find(vids, 8999u) != vids.end()) << "the last version";
  const auto others =
      std::ranges::count_if(vids, [](std::uint64_t vid) { return vid > 1 && vid <= 100; });
  EXPECT_GE(others, 40);
  const Told told = index().search(one.bytes(0, 1), 200, ASK_MOST_ROWS);
  EXPECT_EQ(told.head<ToldFound>().complete, 0u) << "not all have room";
}

/// The oracle: which row has which vector. Engines are killed at any moment, and what they lack
/// then is told again.
TEST_F(EngineSharedVectors, RowsComeAndGoThroughKills) {
  start();
  const Table table(200);
  std::mt19937_64 random(3);
  std::map<std::uint64_t, std::size_t> rows;  // VID: number of the vector
  std::uint64_t next = 1;
  index().open();
  for (int turn = 0; turn < 60; ++turn) {
    Vids vids;
    std::vector<float> floats;
    for (int i = 0; i < 40; ++i) {
      const std::size_t vector = random() % table.vids.size();
      vids.push_back(next);
      floats.insert(floats.end(), table.row(vector).begin(), table.row(vector).end());
      rows[next++] = vector;
    }
    const std::uint32_t how = random() % 4 == 0 ? kAskInsert : kAskInsertAgain;
    ASSERT_EQ(ask_rows(how, vids, std::as_bytes(std::span(floats))).status, 0);
    Vids gone;
    for (const auto& [vid, vector] : rows) {
      if (random() % 3 == 0) gone.push_back(vid);
    }
    for (const std::uint64_t vid : gone) rows.erase(vid);
    if (!gone.empty()) {
      ASSERT_EQ(index().erase(gone).status, 0);
    }
    index().covers(next);
    if (turn % 7 == 6) {
      kill_and_start();
      Table now(0);
      for (const auto& [vid, vector] : rows) {
        now.vids.push_back(vid);
        now.floats.insert(now.floats.end(), table.row(vector).begin(), table.row(vector).end());
      }
      std::size_t lacked = 0;
      ASSERT_EQ(catch_up(now, lacked), 0);
    }
    Vids all = vids_of(index().rows(table.bytes(0, 1), ASK_MOST_ROWS, ASK_MOST_ROWS));
    std::ranges::sort(all);
    // Rows that went may come back with a kill. Nobody sees them.
    std::erase_if(all, [&](std::uint64_t vid) { return !rows.contains(vid); });
    Vids expected;
    for (const auto& [vid, vector] : rows) expected.push_back(vid);
    ASSERT_EQ(all, expected) << turn;
  }
}

}  // namespace
}  // namespace farvec::postgres::tests
