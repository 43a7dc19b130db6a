// An EngineProgram is a fixture that has a table, and the same rows in an index of an engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/postgres/engine/running_engine.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::postgres::tests {

namespace fs = std::filesystem;

inline constexpr std::uint32_t kDimension = 12;
inline constexpr AskOpen kShape{.index = {.number = 0x1234567890abcdef,
                                          .tablespace = 1663,
                                          .database = 5,
                                          .file = 16'384,
                                          .zero = 0},
                                .type = 0,
                                .metric = 0,
                                .dimension = kDimension,
                                .degree = 16,
                                .build_list = 50,
                                .begins = 0,
                                .columns = {},
                                .pool_bytes = 0,
                                .layout = 0,
                                .code_bits = 0,
                                .tier = {}};
inline constexpr const char* kName = "1663-5-16384-1234567890abcdef";
inline constexpr std::int32_t kInvalid = 3;
inline constexpr std::int32_t kNotFound = 5;
inline constexpr std::int32_t kExhausted = 8;
inline constexpr std::int32_t kPrecondition = 9;

/// Rows of a table: vectors with their VIDs.
struct Table {
  explicit Table(std::size_t count, std::uint64_t first = 1, std::uint32_t seed = 1,
                 std::size_t dimensions = kDimension)
      : dimension(dimensions) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < count; ++i) vids.push_back(first + i);
    for (std::size_t i = 0; i < count * dimension; ++i) floats.push_back(normal(random));
  }
  std::span<const float> row(std::size_t i) const {
    return std::span(floats).subspan(i * dimension, dimension);
  }
  std::span<const std::byte> bytes(std::size_t first, std::size_t count) const {
    return std::as_bytes(std::span(floats).subspan(first * dimension, count * dimension));
  }

  std::size_t dimension;
  std::vector<std::uint64_t> vids;
  std::vector<float> floats;
};

inline double squared_l2(std::span<const float> one, std::span<const float> other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    sum += (double{one[i]} - other[i]) * (double{one[i]} - other[i]);
  }
  return sum;
}

/// The nearest rows of a table, by comparing all.
inline std::vector<Row> nearest(const Table& table, std::span<const float> query, std::size_t k) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < table.vids.size(); ++i) {
    rows.push_back({table.vids[i], static_cast<float>(squared_l2(table.row(i), query))});
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& one, const Row& other) { return one.distance < other.distance; });
  rows.resize(std::min(rows.size(), k));
  return rows;
}

/// Pages of which these VIDs are all that live, in the order of their numbers.
inline std::vector<AskPage> pages_of(std::span<const std::uint64_t> vids) {
  std::map<std::uint64_t, AskPage> pages;
  for (const std::uint64_t vid : vids) {
    AskPage& page = pages[vid >> ASK_PLACE_BITS];
    page.number = vid >> ASK_PLACE_BITS;
    const std::uint64_t place = vid % (1u << ASK_PLACE_BITS);
    page.live.words[place / 64] |= std::uint64_t{1} << place % 64;
  }
  std::vector<AskPage> all;
  for (const auto& [number, page] : pages) all.push_back(page);
  return all;
}

/// The VIDs of pages whose bits are set in an answer.
inline std::vector<std::uint64_t> vids_in(const Told& told, std::span<const AskPage> pages) {
  std::vector<std::uint64_t> vids;
  EXPECT_EQ(told.bytes.size(), pages.size() * sizeof(AskBits));
  if (told.bytes.size() != pages.size() * sizeof(AskBits)) return vids;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    AskBits bits;
    std::memcpy(&bits, told.bytes.data() + i * sizeof(bits), sizeof(bits));
    for (std::uint64_t place = 0; place < 1u << ASK_PLACE_BITS; ++place) {
      const bool is_set = (bits.words[place / 64] >> place % 64 & 1) != 0;
      if (is_set) vids.push_back((pages[i].number << ASK_PLACE_BITS) + place);
    }
  }
  return vids;
}

inline std::vector<std::uint64_t> vids_of(const std::vector<Row>& rows) {
  std::vector<std::uint64_t> vids;
  for (const Row& row : rows) vids.push_back(row.vid);
  return vids;
}

class EngineProgram : public testing::Test {
 protected:
  EngineProgram() : all_(folder_.path() / "all"), segment_(folder_.path() / "farvec-segment") {}

  void start(const std::vector<std::string>& more = {}) {
    const std::uint64_t former = asking_ ? channel_incarnation(asking_->channel()) : 0;
    asking_.reset();
    engine_ = std::make_unique<RunningEngine>(all_, segment_, more);
    asking_ = std::make_unique<Asking>(segment_, former);
  }
  AskedIndexOf index() { return {*asking_, shape_}; }
  AskedIndexOf index(const AskOpen& shape) { return {*asking_, shape}; }
  Told insert_part(const Table& table, std::size_t first, std::size_t count) {
    return index().insert(std::span(table.vids).subspan(first, count), table.bytes(first, count));
  }
  void insert(const Table& table, std::size_t batch = 100) {
    for (std::size_t i = 0; i < table.vids.size(); i += batch) {
      const std::size_t count = std::min(batch, table.vids.size() - i);
      Told told = insert_part(table, i, count);
      while (told.status == 0 && told.bytes.size() == 1) {
        wait_for_room();
        told = insert_part(table, i, count);
      }
      ASSERT_EQ(told.status, 0) << told.text();
    }
  }
  /// With a list as long as allowed, searches of a small table find the very nearest.
  void expect_answers(const Table& table) {
    const Table queries(20, 1, 99, table.dimension);
    for (std::size_t i = 0; i < queries.vids.size(); ++i) {
      const std::vector<Row> expected = nearest(table, queries.row(i), 10);
      const std::vector<Row> found = index().rows(queries.bytes(i, 1), 10, ASK_MOST_ROWS);
      ASSERT_EQ(vids_of(found), vids_of(expected));
      for (std::size_t r = 0; r < found.size(); ++r) {
        // Floats of large sums have fewer digits after the point.
        EXPECT_NEAR(found[r].distance, expected[r].distance,
                    std::max(1e-4f, 1e-6f * expected[r].distance));
      }
    }
  }
  void begin_build() {
    AskOpen builds = shape_;
    builds.begins = kAskBuilds;
    EXPECT_EQ(asking_->ask_with(kAskOpen, builds).status, 0);
  }
  /// What was told when the build was finished.
  ToldBuild build() { return ask_build(kAskBuild); }
  void wait_for_room() { ask_build(kAskRoom); }
  ToldBuild ask_build(AskOperation operation) {
    const AskRows asked{shape_.index, 0, 0, 20, 0};
    while (true) {
      const Told told = asking_->ask_with(operation, asked);
      EXPECT_EQ(told.status, 0) << told.text();
      const auto how_far = told.head<ToldBuild>();
      if (told.status != 0 || how_far.finished == 1) return how_far;
    }
  }
  /// An index of the table's rows, all in one segment.
  void build_of(const Table& table) {
    begin_build();
    insert(table);
    EXPECT_EQ(build().rows, table.vids.size());
    EXPECT_EQ(index().covers(table.vids.back() + 1).status, 0);
  }
  /// Does what a backend does before its first search: the engine is told what it lacks of a table,
  /// and is rid of all else. `lacked` is how many rows that were. Returns the status of the first
  /// call that failed, or 0.
  std::int32_t catch_up(const Table& table, std::size_t& lacked) {
    lacked = 0;
    const ToldState state = index().open();
    const std::uint64_t until = table.vids.back() + 1;
    const std::vector<AskPage> pages = pages_of(table.vids);
    const Told told = index().lacks({.index = {},
                                     .from = 0,
                                     .until = until,
                                     .number = ++passes_,
                                     .count = 0,
                                     .pass = ASK_PASS_BEGINS | ASK_PASS_ENDS},
                                    pages);
    if (told.status != 0) return told.status;
    for (const std::uint64_t vid : vids_in(told, pages)) {
      const auto at = std::lower_bound(table.vids.begin(), table.vids.end(), vid);
      const Told one = index().tell(
          std::span(&vid, 1), table.bytes(static_cast<std::size_t>(at - table.vids.begin()), 1));
      if (one.status != 0) return one.status;
      ++lacked;
    }
    return index().covers(until, state.opening).status;
  }
  void kill_and_start() {
    engine_->kill_now();
    EXPECT_TRUE(fs::exists(segment_)) << "a killed engine removes nothing";
    start();
  }

  farvec::tests::TemporaryFolder folder_;
  const fs::path all_;
  const fs::path segment_;
  AskOpen shape_ = kShape;  ///< that of index()
  std::uint64_t passes_ = 0;
  std::unique_ptr<RunningEngine> engine_;
  std::unique_ptr<Asking> asking_;
};

}  // namespace farvec::postgres::tests
