#include "wal/segment_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/unit/message_of.h"
#include "tests/unit/wal/log_fixture.h"
#include "tests/unit/wal/segment_log_fixture.h"
#include "tests/unit/wal/simulated_disk.h"

namespace farvec::wal {
namespace {

using farvec::tests::message_of;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using tests::append;
using tests::Bytes;
using tests::in_seconds;
using tests::read_log;
using tests::record_of;
using tests::small_log;

TEST_F(SegmentLogTest, KeepsRecordsOfEverySizeInTheirOrder) {
  std::vector<Bytes> sent;
  std::vector<Position> ends;
  {
    const auto log = Log::create(small_log(path_));
    const std::size_t most = log->max_record_bytes();
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8},
                                   std::size_t{9}, std::size_t{511}, std::size_t{512}, most,
                                   most - 1, std::size_t{0}, most / 2, most / 2, std::size_t{3}}) {
      sent.push_back(record_of(sent.size(), size));
      const auto end = append(*log, sent.back());
      ASSERT_TRUE(end.ok()) << end.status().message();
      ends.push_back(end.value());
      EXPECT_EQ(log->end(), ends.back());
      ASSERT_TRUE(log->wait(ends.back(), in_seconds(60)).ok());
      EXPECT_GE(log->durable(), ends.back());
    }
    EXPECT_EQ(append(*log, record_of(0, most + 1)).status().code(), StatusCode::invalid_argument);
  }
  const auto read = read_log(path_);
  EXPECT_THAT(read.bytes(), ElementsAreArray(sent));
  ASSERT_EQ(read.records.size(), ends.size());
  Position begin = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(read.records[i].begin, begin);
    EXPECT_EQ(read.records[i].end, ends[i]);
    begin = ends[i];
    EXPECT_EQ(read_log(path_, begin).records.size(), ends.size() - i - 1);
  }
  EXPECT_EQ(read.end, ends.back());
  EXPECT_EQ(read.torn_bytes, 0u);
}

TEST_F(SegmentLogTest, PutsPartsTogether) {
  const Bytes a = record_of(1, 10), b = record_of(2, 0), c = record_of(3, 33);
  {
    const auto log = Log::create(small_log(path_));
    const std::array<std::span<const std::byte>, 3> parts{a, b, c};
    ASSERT_TRUE(log->append(parts).ok());
    ASSERT_TRUE(log->append({}).ok());
  }
  Bytes whole = a;
  whole.insert(whole.end(), c.begin(), c.end());
  EXPECT_THAT(read_log(path_).bytes(), ElementsAreArray({whole, Bytes()}));
}

TEST_F(SegmentLogTest, AnEmptyLogHasNoRecords) {
  { const auto log = Log::create(small_log(path_)); }
  EXPECT_TRUE(read_log(path_).records.empty());
  { const auto log = Log::open(small_log(path_)); }
  EXPECT_TRUE(read_log(path_).records.empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_), {}), 1);
}

TEST_F(SegmentLogTest, GoesOnWhereItWasAndUsesNoPositionTwice) {
  std::vector<Bytes> sent;
  Position end = 0;
  for (int opening = 0; opening < 20; ++opening) {
    const auto log = opening == 0 ? Log::create(small_log(path_)) : Log::open(small_log(path_));
    EXPECT_TRUE(opening == 0 || log->end() > end);
    EXPECT_EQ(log->begin(), sent.empty() ? log->end() : read_log(path_).records[0].begin);
    EXPECT_EQ(read_log(path_, log->end()).records.size(), 0u);
    for (int i = 0; i < opening % 3; ++i) {
      sent.push_back(record_of(sent.size(), 1000));
      ASSERT_TRUE(append(*log, sent.back()).ok());
    }
    end = log->end();
    ASSERT_TRUE(log->flush(end, in_seconds(60)).ok());
    EXPECT_THAT(read_log(path_).bytes(), ElementsAreArray(sent));
  }
}

TEST_F(SegmentLogTest, IsOpenOnce) {
  const auto log = Log::create(small_log(path_));
  EXPECT_THAT(message_of([&] { (void)Log::open(small_log(path_)); }), HasSubstr("another process"));
  EXPECT_THAT(message_of([&] { (void)Log::create(small_log(path_)); }),
              HasSubstr("another process"));
}

TEST_F(SegmentLogTest, IsMadeOnceAndOpenedWhenItIsThere) {
  EXPECT_THROW((void)Log::open(small_log(path_)), Error);
  { const auto log = Log::create(small_log(path_)); }
  EXPECT_THAT(message_of([&] { (void)Log::create(small_log(path_)); }), HasSubstr("already"));
  std::filesystem::remove(path_ / log_segment_name(0));
  EXPECT_THAT(message_of([&] { (void)Log::open(small_log(path_)); }), HasSubstr("holds no log"));
}

TEST_F(SegmentLogTest, RefusesOptionsOutOfTheirBounds) {
  const auto refuses = [&](auto change) {
    LogOptions options = small_log(path_);
    change(options);
    EXPECT_THROW((void)Log::create(options), Error);
  };
  refuses([](LogOptions& o) { o.segment_bytes = 4096; });
  refuses([](LogOptions& o) { o.segment_bytes = 16385; });
  refuses([](LogOptions& o) { o.segment_bytes = 2ull << 30; });
  refuses([](LogOptions& o) { o.pending_bytes = 0; });
  refuses([](LogOptions& o) { o.pending_bytes = 2ull << 30; });
  refuses([](LogOptions& o) {
    o.durability = Durability::interval;
    o.interval_us = 0;
  });
}

TEST_F(SegmentLogTest, TakesRecordsOfManyThreads) {
  constexpr int kThreads = 8, kEach = 200;
  std::vector<std::vector<Position>> ends(kThreads);
  {
    LogOptions options = small_log(path_);
    options.pending_bytes = 4096;  // so that they wait for room
    const auto log = Log::create(options);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const auto end = append(*log, record_of(t * kEach + i, 100 + i));
          ASSERT_TRUE(end.ok());
          ends[t].push_back(end.value());
          ASSERT_TRUE(i % 8 != 0 || log->wait(end.value(), in_seconds(60)).ok());
          if (i % 50 == 0) log->request(log->end());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::map<Position, Bytes> sent;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kEach; ++i) sent[ends[t][i]] = record_of(t * kEach + i, 100 + i);
  }
  std::vector<Bytes> in_order;
  for (auto& [end, bytes] : sent) in_order.push_back(bytes);
  EXPECT_THAT(read_log(path_).bytes(), ElementsAreArray(in_order));
}

TEST_F(SegmentLogTest, SyncsOnceForAllThatIsPending) {
  tests::SimulatedDisk disk(path_);
  LogOptions options = small_log(path_);
  options.durability = Durability::none;
  const auto log = create_log(options, disk.folder());
  const std::uint64_t before = disk.syncs();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(append(*log, record_of(i, 16)).ok());
  EXPECT_EQ(disk.syncs(), before);
  EXPECT_TRUE(log->wait(log->end(), in_seconds(60)).ok());
  EXPECT_EQ(disk.syncs(), before);
  ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
  EXPECT_EQ(disk.syncs(), before + 1);
  EXPECT_EQ(read_log(path_).records.size(), 100u);
}

TEST_F(SegmentLogTest, OfAnIntervalIsDurableByItself) {
  LogOptions options = small_log(path_);
  options.durability = Durability::interval;
  options.interval_us = 1000;
  const auto log = Log::create(options);
  const auto end = append(*log, record_of(1, 10));
  ASSERT_TRUE(end.ok());
  EXPECT_TRUE(log->wait(end.value(), 0).ok());
  while (log->durable() < end.value()) std::this_thread::yield();
  EXPECT_EQ(read_log(path_).records.size(), 1u);
}

TEST_F(SegmentLogTest, OfCommitsIsDurableWithoutBeingAsked) {
  const auto log = Log::create(small_log(path_));
  const auto end = append(*log, record_of(1, 10));
  while (log->durable() < end.value()) std::this_thread::yield();
  EXPECT_TRUE(log->flush(end.value(), 0).ok());
  EXPECT_EQ(log->flush(end.value() + 1, in_seconds(60)).code(), StatusCode::invalid_argument);
}

TEST_F(SegmentLogTest, WritesBeforeItIsAskedWhenMuchIsPending) {
  LogOptions options = small_log(path_);
  options.durability = Durability::none;
  options.pending_bytes = 4096;
  const auto log = Log::create(options);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(append(*log, record_of(i, i == 50 ? 10000 : 500)).ok());
    EXPECT_LE(log->end() - log->durable(), 10100u);
  }
}

TEST_F(SegmentLogTest, CutsWholeSegmentsThatNobodyNeeds) {
  const auto log = Log::create(small_log(path_));
  std::vector<Position> begins;
  for (int i = 0; i < 100; ++i) {
    begins.push_back(log->end());
    ASSERT_TRUE(append(*log, record_of(i, 1000)).ok());
  }
  ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
  const std::uint64_t all = log->disk_bytes();
  EXPECT_EQ(all, 10u * 16384);
  for (const Position needed : begins) {
    log->cut(needed);
    EXPECT_LE(log->begin(), needed);
    const auto read = read_log(path_, needed);
    EXPECT_EQ(read.records.front().begin, needed);
    EXPECT_EQ(read.end, log->end());
    EXPECT_LE(needed - log->begin(), 16384u);
  }
  log->cut(log->end());
  EXPECT_EQ(log->disk_bytes(), 16384u);
  EXPECT_THAT(message_of([&] { (void)read_log(path_, begins[3]); }), HasSubstr("is needed from"));
}

}  // namespace
}  // namespace farvec::wal
