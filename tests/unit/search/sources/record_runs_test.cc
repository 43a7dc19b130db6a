#include "search/sources/record_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/memory.h"
#include "base/random.h"

namespace farvec::search {
namespace {

using layout::Extent;

constexpr std::size_t kMuch = std::size_t{1} << 30;
constexpr std::uint32_t kLong = 1u << 30;

std::size_t lines(std::size_t bytes) {
  return round_up(bytes, kCacheLineBytes);
}

std::vector<std::size_t> run_lengths(const std::vector<Extent>& records, const RunLimits& limits) {
  RecordRuns runs;
  runs.plan(records, limits);
  std::vector<std::size_t> lengths;
  for (const RecordRuns::Run& run : runs.runs()) lengths.push_back(run.bytes);
  return lengths;
}

using Lengths = std::vector<std::size_t>;

TEST(RecordRuns, ReadTogetherWhatIsNear) {
  const std::vector<Extent> records{{100, 50, 0}, {150, 30, 0}, {200, 10, 0}, {1000, 5, 0}};
  EXPECT_EQ(run_lengths(records, {0, kLong, kMuch}), (Lengths{80, 10, 5}));
  EXPECT_EQ(run_lengths(records, {19, kLong, kMuch}), (Lengths{80, 10, 5}));
  EXPECT_EQ(run_lengths(records, {20, kLong, kMuch}), (Lengths{110, 5}));
  EXPECT_EQ(run_lengths(records, {5000, kLong, kMuch}), (Lengths{905}));
}

TEST(RecordRuns, AreNoLongerThanARead) {
  const std::vector<Extent> records{{0, 40, 0}, {40, 40, 0}, {80, 40, 0}, {120, 90, 0}};
  EXPECT_EQ(run_lengths(records, {0, 100, kMuch}), (Lengths{80, 40, 90}));
  EXPECT_EQ(run_lengths(records, {0, 79, kMuch}), (Lengths{40, 40, 40, 90}))
      << "records stay whole";
}

TEST(RecordRuns, ReadWhatIsBetweenOnlyWhereThereIsRoom) {
  const std::vector<Extent> records{{0, 64, 0}, {164, 64, 0}, {300, 64, 0}};
  EXPECT_EQ(run_lengths(records, {1000, kLong, 3 * 64}), (Lengths{64, 64, 64}));
  EXPECT_EQ(run_lengths(records, {1000, kLong, 3 * 64 + 128}), (Lengths{228, 64}));
  EXPECT_EQ(run_lengths(records, {1000, kLong, 3 * 64 + 256}), (Lengths{364}));
}

TEST(RecordRuns, OfRecordsThatDoNotAscendStayApart) {
  EXPECT_EQ(
      run_lengths({{500, 10, 0}, {490, 10, 0}, {500, 10, 0}, {505, 10, 0}}, {1000, kLong, kMuch}),
      (Lengths{10, 20, 10}));
  EXPECT_EQ(run_lengths({}, {1000, kLong, kMuch}), Lengths{});
}

/// Every record is in its run, runs lie beside each other in the buffer, and no two that could be
/// one are left, but for room.
TEST(RecordRuns, HoldEveryRecord) {
  Random random(3);
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<Extent> records(1 + random.below(graph::kMaxWidth));
    std::uint64_t offset = random.below(1000);
    std::size_t alone = 0;
    for (Extent& record : records) {
      offset += random.below(3) == 0 ? random.below(400) : 0;
      record = {offset, 1 + static_cast<std::uint32_t>(random.below(300)), 0};
      offset += record.bytes;
      alone += lines(record.bytes);
    }
    const RunLimits limits{static_cast<std::uint32_t>(random.below(300)),
                           300 + static_cast<std::uint32_t>(random.below(2000)),
                           alone + random.below(2000)};
    RecordRuns runs;
    runs.plan(records, limits);
    std::vector<std::size_t> of_run(runs.runs().size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const RecordRuns::Part& part = runs.part(i);
      ASSERT_LT(part.run, runs.runs().size());
      ASSERT_EQ(runs.runs()[part.run].offset + part.skip, records[i].offset);
      ASSERT_LE(part.skip + records[i].bytes, runs.runs()[part.run].bytes);
      of_run[part.run] += records[i].bytes;
    }
    std::size_t end = 0;
    for (std::size_t r = 0; r < runs.runs().size(); ++r) {
      const RecordRuns::Run& run = runs.runs()[r];
      ASSERT_EQ(run.at, end);
      ASSERT_GT(of_run[r], 0u);
      ASSERT_LE(run.bytes, limits.read_bytes);
      end += lines(run.bytes);
      if (r + 1 == runs.runs().size()) break;
      const RecordRuns::Run& next = runs.runs()[r + 1];
      const bool touches = next.offset == run.offset + run.bytes;
      const auto first_of_next = std::find_if(
          records.begin(), records.end(), [&](const Extent& e) { return e.offset == next.offset; });
      ASSERT_TRUE(!touches || run.bytes + first_of_next->bytes > limits.read_bytes);
    }
    ASSERT_LE(end, limits.room);
  }
}

}  // namespace
}  // namespace farvec::search
