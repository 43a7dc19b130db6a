#include "search/lanes/read_lane.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "search/lanes/read_dispatcher.h"
#include "tests/unit/search/run_in_fiber.h"
#include "tests/unit/search/scripted_endpoint.h"
#include "tests/unit/transport/test_regions.h"

namespace farvec::search {
namespace {

constexpr std::uint32_t kPlaceBytes = 64;
constexpr std::uint32_t kPlaces = 100;  ///< more than a lane has requests for from the beginning

/// Read i is to lie in place i.
class PlacesTest : public testing::Test {
 protected:
  void begin(std::uint32_t reads, std::uint64_t from) {
    ASSERT_TRUE(lane_.begin(coroutines::kNoDeadline).ok());
    ReadLane::Appender round(lane_);
    for (std::uint32_t i = 0; i < reads; ++i) round.add(from + i * 40, kPlaceBytes - 1);
  }

  void expect_round(std::uint32_t reads, std::uint64_t from) {
    begin(reads, from);
    ASSERT_TRUE(lane_.hold(coroutines::kNoDeadline).ok());
    ASSERT_TRUE(lane_.wait(coroutines::kNoDeadline, false).ok());
    for (std::uint32_t i = 0; i < reads; ++i) {
      const auto bytes = lane_.bytes(i);
      ASSERT_EQ(bytes.size(), kPlaceBytes - 1);
      ASSERT_EQ(bytes.data(), lane_.bytes(0).data() + i * kPlaceBytes);
      ASSERT_EQ(
          std::memcmp(bytes.data(), (*regions_)[0].bytes().data() + from + i * 40, bytes.size()), 0)
          << i;
    }
  }

  Script script_;
  std::shared_ptr<const transport::RegionSet> regions_ = transport::random_regions();
  coroutines::Scheduler scheduler_;
  ReadDispatcher dispatcher_{std::make_unique<ScriptedEndpoint>(
                                 std::make_unique<transport::MappedEndpoint>(regions_), script_),
                             scheduler_,
                             {.lanes = 1,
                              .lane_bytes = kPlaces * kPlaceBytes,
                              .max_reads = kPlaces,
                              .place_bytes = kPlaceBytes}};
  ReadLane& lane_ = dispatcher_.lane(0);
};

TEST(Troubles, AddUpUntilTheyAreForgotten) {
  constexpr Trouble kAll[] = {Trouble::gave_up, Trouble::beyond,    Trouble::refused,
                              Trouble::failed,  Trouble::cut_short, Trouble::lost,
                              Trouble::moved};
  Troubles troubles(kAll[0]);
  for (std::size_t i = 0; i < std::size(kAll); ++i) {
    troubles.add(kAll[i]);
    EXPECT_TRUE(troubles.any());
    for (std::size_t j = 0; j < std::size(kAll); ++j) EXPECT_EQ(troubles.has(kAll[j]), j <= i);
  }
  troubles.clear();
  EXPECT_FALSE(troubles.any());
  for (const Trouble one : kAll) EXPECT_FALSE(troubles.has(one));
}

/// What a round could not read is said once: the next round knows nothing of it.
TEST_F(PlacesTest, ATroubledRoundLeavesNothingToTheNextOne) {
  run_in_fiber(scheduler_, dispatcher_, [this] {
    for (const StatusCode code : {StatusCode::unavailable, StatusCode::data_loss}) {
      begin(4, 0);
      script_.ends = code;
      ASSERT_TRUE(lane_.hold(coroutines::kNoDeadline).ok());
      EXPECT_EQ(lane_.wait(coroutines::kNoDeadline, false).code(), code);
      for (std::uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(lane_.bytes(i).empty());
      script_.ends = StatusCode::ok;
      expect_round(4, 8);
    }
  });
}

/// Also when the buffer is another one, and of reads that are added later.
TEST_F(PlacesTest, AreThoseOfTheNumbers) {
  run_in_fiber(scheduler_, dispatcher_, [this] {
    for (int buffer = 0; buffer < 3; ++buffer) {
      for (const std::uint32_t reads : {3u, 64u, 65u, kPlaces, 1u}) expect_round(reads, reads);
      script_.silent = true;
      begin(kPlaces, 0);
      ASSERT_TRUE(lane_.post(coroutines::kNoDeadline).ok());
      ASSERT_EQ(lane_.wait(now_ticks(), false).code(), StatusCode::deadline_exceeded);
      script_.silent = false;
    }
  });
  EXPECT_EQ(dispatcher_.late_completions(), 3 * kPlaces);
}

TEST_F(PlacesTest, HoldNoMoreThanTheyAre) {
  run_in_fiber(scheduler_, dispatcher_, [this] {
    ASSERT_TRUE(lane_.begin(coroutines::kNoDeadline).ok());
    ReadLane::Appender(lane_).add(0, kPlaceBytes + 1);
    EXPECT_EQ(lane_.post(coroutines::kNoDeadline).code(), StatusCode::internal);
    EXPECT_EQ(lane_.hold(coroutines::kNoDeadline).code(), StatusCode::internal);
    EXPECT_EQ(script_.posts, 0u);
    expect_round(2, 0);
  });
}

/// A round may lie elsewhere, and the next one is in its places again.
TEST_F(PlacesTest, AreTakenUpAgainAfterARoundWithoutThem) {
  constexpr std::uint32_t kBytes = 3 * kPlaceBytes + 5;  ///< more than a place
  run_in_fiber(scheduler_, dispatcher_, [this] {
    for (const bool held : {true, false}) {
      ASSERT_TRUE(lane_.begin(coroutines::kNoDeadline).ok());
      {
        ReadLane::Appender round(lane_);
        round.add(7, kBytes, 0);
        round.add(900, kBytes, 1024);
      }
      ASSERT_TRUE(
          (held ? lane_.hold(coroutines::kNoDeadline) : lane_.post(coroutines::kNoDeadline)).ok());
      ASSERT_TRUE(lane_.wait(coroutines::kNoDeadline, false).ok());
      EXPECT_EQ(lane_.bytes(1).data(), lane_.bytes(0).data() + 1024);
      const std::byte* const region = (*regions_)[0].bytes().data();
      EXPECT_EQ(std::memcmp(lane_.bytes(0).data(), region + 7, kBytes), 0);
      EXPECT_EQ(std::memcmp(lane_.bytes(1).data(), region + 900, kBytes), 0);
      for (const std::uint32_t reads : {3u, kPlaces}) expect_round(reads, reads);
    }
  });
}

TEST_F(PlacesTest, AreNotNeededWithinTheBufferAlone) {
  run_in_fiber(scheduler_, dispatcher_, [this] {
    for (const std::uint64_t at : {kPlaces * kPlaceBytes - 9ull, kPlaces * kPlaceBytes + 1ull}) {
      ASSERT_TRUE(lane_.begin(coroutines::kNoDeadline).ok());
      ReadLane::Appender(lane_).add(0, 10, at);
      EXPECT_EQ(lane_.post(coroutines::kNoDeadline).code(), StatusCode::internal);
      expect_round(2, 0);
    }
  });
}

/// More than a lane has room for from the beginning.
class LongRoundsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kMost = 1000;

  /// Of so many reads of ten bytes, one after the other.
  void round(std::uint32_t reads) {
    ASSERT_TRUE(lane_.begin(coroutines::kNoDeadline).ok());
    ReadLane::Appender round(lane_);
    for (std::uint32_t i = 0; i < reads; ++i) round.add(i * 7, 10, i * 10);
  }
  void expect_brought(std::uint32_t reads) {
    ASSERT_EQ(lane_.reads().size(), reads);
    for (std::uint32_t i = 0; i < reads; ++i) {
      const auto bytes = lane_.bytes(i);
      ASSERT_EQ(bytes.size(), 10u);
      ASSERT_EQ(std::memcmp(bytes.data(), (*regions_)[0].bytes().data() + i * 7, 10), 0) << i;
    }
  }

  std::shared_ptr<const transport::RegionSet> regions_ = transport::random_regions();
  coroutines::Scheduler scheduler_;
  ReadDispatcher dispatcher_{std::make_unique<transport::MappedEndpoint>(regions_),
                             scheduler_,
                             {.lanes = 1, .lane_bytes = kMost * 10, .max_reads = kMost}};
  ReadLane& lane_ = dispatcher_.lane(0);
};

TEST_F(LongRoundsTest, TakeTheMemoryThatTheyNeed) {
  const std::size_t before = dispatcher_.dram_bytes();
  run_in_fiber(scheduler_, dispatcher_, [&, this] {
    for (const std::uint32_t reads : {1u, 64u, 65u, kMost, 3u}) {
      round(reads);
      ASSERT_TRUE(lane_.post(coroutines::kNoDeadline).ok());
      ASSERT_TRUE(lane_.wait(coroutines::kNoDeadline, false).ok());
      expect_brought(reads);
      EXPECT_EQ(dispatcher_.dram_bytes() > before, reads != 1 && reads != 64);
    }
  });
  EXPECT_EQ(dispatcher_.dram_bytes() - before, (kMost - 64) * sizeof(transport::ReadRequest));
}

TEST_F(LongRoundsTest, HaveABound) {
  EXPECT_DEATH(round(kMost + 1), "more than 1000 reads");
}

}  // namespace
}  // namespace farvec::search
