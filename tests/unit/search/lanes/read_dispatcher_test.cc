#include "search/lanes/read_dispatcher.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "tests/unit/search/run_in_fiber.h"
#include "tests/unit/search/scripted_endpoint.h"
#include "tests/unit/transport/test_regions.h"

namespace farvec::search {
namespace {

constexpr std::uint32_t kReadBytes = 64;
constexpr std::uint32_t kReads = 8;

class ReadDispatcherTest : public testing::Test {
 protected:
  /// Runs `body` in a fiber.
  void run(const std::function<void()>& body) { run_in_fiber(scheduler_, dispatcher_, body); }

  struct Read {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint64_t at = 0;
  };

  /// Read i brings what lies at `from` + i pages.
  static std::vector<Read> reads(std::uint64_t from, std::uint32_t count = kReads) {
    std::vector<Read> made;
    for (std::uint64_t i = 0; i < count; ++i) {
      made.push_back({from + i * 4096, kReadBytes, i * kReadBytes});
    }
    return made;
  }

  ReadLane& lane(std::uint32_t number = 0) { return dispatcher_.lane(number); }

  /// A round of a lane.
  Status begin(std::uint32_t number, std::span<const Read> reads, Ticks deadline) {
    if (Status status = lane(number).begin(deadline); !status.ok()) return status;
    ReadLane::Appender round(lane(number));
    for (const Read& read : reads) round.add(read.offset, read.bytes, read.at);
    return {};
  }
  Status post(std::span<const Read> reads, Ticks deadline) {
    const Status status = begin(0, reads, deadline);
    return status.ok() ? lane().post(deadline) : status;
  }
  Status hold(std::uint32_t number, std::span<const Read> reads, Ticks deadline) {
    const Status status = begin(number, reads, deadline);
    return status.ok() ? lane(number).hold(deadline) : status;
  }

  bool brought(std::uint32_t read, std::uint64_t offset) {
    const auto bytes = lane().bytes(read);
    return bytes.size() == kReadBytes &&
           std::memcmp(bytes.data(), (*regions_)[0].bytes().data() + offset, kReadBytes) == 0;
  }

  /// One read that does not come before its deadline. The lane must have a buffer.
  void give_up_a_read() {
    ASSERT_TRUE(post(reads(0, 1), soon()).ok());
    ASSERT_EQ(lane().wait(now_ticks(), false).code(), StatusCode::deadline_exceeded);
  }

  static Ticks soon() { return now_ticks() + us_to_ticks(5e6); }

  explicit ReadDispatcherTest(bool by_reference = false, std::uint32_t lanes = 1)
      : dispatcher_(std::make_unique<ScriptedEndpoint>(
                        std::make_unique<transport::MappedEndpoint>(
                            regions_, transport::MappedOptions{.max_outstanding = kReads / 2,
                                                               .by_reference = by_reference}),
                        script_),
                    scheduler_,
                    {.lanes = lanes, .lane_bytes = kReads * kReadBytes, .max_reads = kReads}) {}

  Script script_;
  std::shared_ptr<const transport::RegionSet> regions_ = transport::random_regions();
  coroutines::Scheduler scheduler_;
  ReadDispatcher dispatcher_;
};

/// One completion is for all reads of a piece, which lie in the region.
class ReadDispatcherByReferenceTest : public ReadDispatcherTest {
 protected:
  ReadDispatcherByReferenceTest() : ReadDispatcherTest(true) {}
};

TEST_F(ReadDispatcherByReferenceTest, BytesLieInTheRegion) {
  run([this] {
    for (std::uint64_t from = 0; from < 300; from += 100) {
      const auto some = reads(from);
      ASSERT_TRUE(post(some, soon()).ok());
      ASSERT_TRUE(lane().wait(soon(), false).ok());
      EXPECT_TRUE(lane().by_reference());
      for (std::uint32_t i = 0; i < kReads; ++i) {
        ASSERT_TRUE(brought(i, from + i * 4096));
        EXPECT_EQ(lane().bytes(i).data(), (*regions_)[0].bytes().data() + from + i * 4096);
      }
    }
  });
  EXPECT_EQ(dispatcher_.in_flight(), 0u);
}

TEST_F(ReadDispatcherByReferenceTest, OfAPieceThatIsLostNothingIsThere) {
  run([this] {
    const auto some = reads(0);
    script_.absent = [](std::size_t post) { return post == 1; };
    ASSERT_TRUE(post(some, soon()).ok());
    ASSERT_TRUE(lane().wait(soon(), true).ok());
    for (std::uint32_t i = 0; i < kReads; ++i) {
      EXPECT_EQ(lane().bytes(i).empty(), i >= kReads / 2) << i;
    }
    script_.ends = StatusCode::unavailable;
    ASSERT_TRUE(post(some, soon()).ok());
    ASSERT_TRUE(lane().wait(soon(), true).ok());
    for (std::uint32_t i = 0; i < kReads; ++i) EXPECT_TRUE(lane().bytes(i).empty()) << i;
    script_.ends = StatusCode::ok;
    ASSERT_TRUE(post(some, soon()).ok());
    ASSERT_TRUE(lane().wait(soon(), true).ok());
    for (std::uint32_t i = 0; i < kReads; ++i) EXPECT_TRUE(brought(i, i * 4096)) << i;
  });
}

TEST_F(ReadDispatcherByReferenceTest, LateRunsGiveTheirBufferBack) {
  run([this] {
    const auto some = reads(0);
    script_.silent = true;
    ASSERT_TRUE(post(reads(0, kReads / 2), soon()).ok());
    ASSERT_EQ(lane().wait(now_ticks(), false).code(), StatusCode::deadline_exceeded);
    script_.silent = false;
    ASSERT_TRUE(post(some, soon()).ok());
    ASSERT_TRUE(lane().wait(soon(), false).ok());
    for (std::uint32_t i = 0; i < kReads; ++i) EXPECT_TRUE(brought(i, i * 4096)) << i;
  });
  EXPECT_EQ(dispatcher_.late_completions(), kReads / 2);
}

TEST_F(ReadDispatcherTest, APieceThatNobodyTookBringsNothing) {
  run([this] {
    ASSERT_TRUE(post(reads(0), soon()).ok());
    ASSERT_TRUE(lane().wait(soon(), true).ok());
    for (std::uint32_t i = 0; i < kReads; ++i) ASSERT_TRUE(brought(i, i * 4096));
    script_.absent = [second = script_.posts + 1](std::size_t post) { return post == second; };
    ASSERT_TRUE(post(reads(100), soon()).ok()) << "the first piece is out";
    ASSERT_TRUE(lane().wait(soon(), true).ok());
    for (std::uint32_t i = 0; i < kReads / 2; ++i) EXPECT_TRUE(brought(i, 100 + i * 4096));
    for (std::uint32_t i = kReads / 2; i < kReads; ++i) {
      EXPECT_TRUE(lane().bytes(i).empty()) << i << " is what the first reads left there";
    }
  });
}

TEST_F(ReadDispatcherTest, APieceThatNobodyTookEndsASearchThatIsNotPartial) {
  run([this] {
    script_.absent = [](std::size_t post) { return post == 1; };
    ASSERT_TRUE(post(reads(0), soon()).ok());
    EXPECT_EQ(lane().wait(soon(), false).code(), StatusCode::unavailable);
  });
}

TEST_F(ReadDispatcherTest, AnAbsenceHidesNothingWorse) {
  run([this] {
    script_.ends = StatusCode::internal;
    script_.absent = [](std::size_t post) { return post == 1; };
    ASSERT_TRUE(post(reads(0), soon()).ok());
    EXPECT_EQ(lane().wait(soon(), true).code(), StatusCode::internal);
  });
}

TEST_F(ReadDispatcherTest, RefusesWhatDoesNotFitTheBuffer) {
  run([this] {
    for (const Read& read :
         {Read{0, kReadBytes, kReads * kReadBytes - kReadBytes + 1},
          Read{0, kReads * kReadBytes + 1, 0}, Read{0, kReadBytes, ~std::uint64_t{0} - 8}}) {
      EXPECT_EQ(post({&read, 1}, soon()).code(), StatusCode::internal);
      EXPECT_EQ(hold(0, {&read, 1}, soon()).code(), StatusCode::internal);
    }
    std::vector<Read> some = reads(0);
    some.back().at += 1;
    EXPECT_EQ(post(some, soon()).code(), StatusCode::internal);
    EXPECT_EQ(script_.posts, 0u);
    ASSERT_TRUE(post(reads(70), soon()).ok()) << "nothing of that is left";
    ASSERT_TRUE(lane().wait(soon(), false).ok());
    for (std::uint32_t i = 0; i < kReads; ++i) EXPECT_TRUE(brought(i, 70 + i * 4096));
  });
}

TEST_F(ReadDispatcherTest, ARoundGoesOnWhereItEnded) {
  run([this] {
    ASSERT_TRUE(lane().begin(soon()).ok());
    for (std::uint64_t i = 0; i < kReads; ++i) {
      ReadLane::Appender(lane()).add(i * 4096, kReadBytes, i * kReadBytes);
      EXPECT_EQ(lane().reads().size(), i + 1);
    }
    ASSERT_TRUE(lane().post(soon()).ok());
    ASSERT_TRUE(lane().wait(soon(), false).ok());
    for (std::uint32_t i = 0; i < kReads; ++i) EXPECT_TRUE(brought(i, i * 4096));
  });
}

/// The one lane has two buffers: its own and a spare one.
TEST_F(ReadDispatcherTest, NoBufferIsMadeWhileSearchesRun) {
  const std::size_t registered = script_.registered_bytes;
  const std::size_t dram = dispatcher_.dram_bytes();
  EXPECT_EQ(registered, 2 * kReads * kReadBytes);
  run([&, this] {
    for (int round = 0; round < 5; ++round) {
      script_.silent = true;
      give_up_a_read();
      give_up_a_read();
      EXPECT_EQ(post(reads(0), now_ticks()).code(), StatusCode::deadline_exceeded)
          << "both buffers are out";
      script_.silent = false;
      ASSERT_TRUE(post(reads(50), soon()).ok()) << "one comes back";
      ASSERT_TRUE(lane().wait(soon(), false).ok());
      for (std::uint32_t i = 0; i < kReads; ++i) EXPECT_TRUE(brought(i, 50 + i * 4096));
    }
  });
  EXPECT_EQ(script_.registered_bytes, registered);
  EXPECT_EQ(dispatcher_.dram_bytes(), dram);
  EXPECT_EQ(dispatcher_.late_completions(), 10u);
  EXPECT_FALSE(dispatcher_.closed());
}

TEST_F(ReadDispatcherTest, GivesUpWhenNoBufferComesBack) {
  run([this] {
    script_.silent = true;
    give_up_a_read();
    give_up_a_read();
    int posts = 0;
    while (!dispatcher_.closed() && posts < 1000) {
      EXPECT_EQ(post(reads(0), now_ticks()).code(), StatusCode::deadline_exceeded);
      ++posts;
    }
    EXPECT_EQ(posts, 64);
    EXPECT_EQ(post(reads(0), soon()).code(), StatusCode::unavailable);
  });
}

/// Half of a lane's reads are as many as the endpoint takes.
class HeldReadsTest : public ReadDispatcherTest {
 protected:
  HeldReadsTest() : ReadDispatcherTest(false, 2) {}

  /// In lane 0, which must not wait for anything.
  void hold(std::uint64_t from) {
    ASSERT_TRUE(ReadDispatcherTest::hold(0, reads(from, kReads / 2), soon()).ok());
  }
  void expect_brought(std::uint64_t from) {
    for (std::uint32_t i = 0; i < kReads / 2; ++i) EXPECT_TRUE(brought(i, from + i * 4096)) << i;
  }
};

TEST_F(HeldReadsTest, ArePostedWhenTheCorePolls) {
  run([this] {
    hold(100);
    EXPECT_EQ(script_.posts, 0u);
    EXPECT_EQ(dispatcher_.in_flight(), 0u);
    ASSERT_TRUE(lane().wait(soon(), false).ok());
    EXPECT_EQ(script_.posts, 1u);
    expect_brought(100);
  });
  EXPECT_EQ(dispatcher_.in_flight(), 0u);
}

TEST_F(HeldReadsTest, ArePostedOnceWhenAskedTo) {
  run([this] {
    hold(0);
    dispatcher_.post_held();
    EXPECT_EQ(script_.posts, 1u);
    EXPECT_EQ(dispatcher_.in_flight(), kReads / 2);
    dispatcher_.post_held();
    EXPECT_EQ(script_.posts, 1u);
    ASSERT_TRUE(lane().wait(soon(), false).ok());
    expect_brought(0);
  });
}

TEST_F(HeldReadsTest, ArePostedBeforeThoseOfAnotherLane) {
  run([this] {
    hold(0);
    ASSERT_TRUE(ReadDispatcherTest::hold(1, reads(50), soon()).ok())
        << "waits for the endpoint's room";
    EXPECT_EQ(script_.posts, 3u);
    ASSERT_TRUE(lane().wait(soon(), false).ok());
    expect_brought(0);
    ASSERT_TRUE(lane(1).wait(soon(), false).ok());
    for (std::uint32_t i = 0; i < kReads; ++i) {
      EXPECT_EQ(std::memcmp(lane(1).bytes(i).data(), (*regions_)[0].bytes().data() + 50 + i * 4096,
                            kReadBytes),
                0);
    }
  });
}

TEST_F(HeldReadsTest, AreForgottenWhenTheirDeadlinePasses) {
  run([this] {
    script_.full = true;
    hold(0);
    EXPECT_EQ(lane().wait(now_ticks(), false).code(), StatusCode::deadline_exceeded);
    script_.full = false;
    const std::size_t posts = script_.posts;
    dispatcher_.post_held();
    EXPECT_EQ(script_.posts, posts);
    hold(200);
    ASSERT_TRUE(lane().wait(soon(), false).ok());
    EXPECT_EQ(script_.posts, posts + 1);
    expect_brought(200);
  });
  EXPECT_EQ(dispatcher_.late_completions(), 0u);
}

TEST_F(HeldReadsTest, ThatNobodyTakesAreAnErrorAlsoOfAPartialSearch) {
  run([this] {
    script_.absent = [](std::size_t post) { return post == 0; };
    hold(0);
    const Status refused = lane().wait(soon(), true);
    EXPECT_EQ(refused.code(), StatusCode::unavailable);
    EXPECT_STREQ(refused.message(), "nobody is there");
    hold(0);
    ASSERT_TRUE(lane().wait(soon(), true).ok());
    expect_brought(0);
  });
}

TEST_F(HeldReadsTest, WaitForRoom) {
  run([this] {
    script_.full = true;
    hold(0);
    dispatcher_.post_held();
    EXPECT_EQ(dispatcher_.stalls(), 1u);
    EXPECT_EQ(dispatcher_.in_flight(), 0u);
    EXPECT_EQ(ReadDispatcherTest::hold(1, reads(0, 1), now_ticks()).code(),
              StatusCode::deadline_exceeded)
        << "one lane is held back at most";
    script_.full = false;
    ASSERT_TRUE(lane().wait(soon(), false).ok());
    expect_brought(0);
  });
}

TEST(ReadDispatcher, HasAsManySparesAsLanesWithinABound) {
  EXPECT_EQ(ReadDispatcher::spare_buffers({.lanes = 16, .lane_bytes = 8192}), 16u);
  EXPECT_EQ(ReadDispatcher::spare_buffers({.lanes = 16, .lane_bytes = 8u << 20}), 2u);
  EXPECT_EQ(ReadDispatcher::spare_buffers({.lanes = 1, .lane_bytes = 8u << 20}), 1u);
  EXPECT_EQ(ReadDispatcher::spare_buffers({.lanes = 16, .lane_bytes = 1u << 30}), 0u);
}

}  // namespace
}  // namespace farvec::search
