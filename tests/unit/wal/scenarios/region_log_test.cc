// A log on several memories: written and followed, whatever becomes of them.
#include "wal/region_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "tests/unit/message_of.h"
#include "tests/unit/wal/log_fixture.h"
#include "tests/unit/wal/region_log_fixture.h"
#include "wal/log_reader.h"
#include "wal/region_source.h"

namespace farvec::wal {
namespace {

using testing::HasSubstr;
using tests::append;
using tests::Bytes;
using tests::in_seconds;
using tests::kLogId;
using tests::Life;
using tests::record_of;
using tests::Region;
using tests::RegionLogTest;

struct OneRegionLogTest : RegionLogTest {
  OneRegionLogTest() : RegionLogTest(1) {}
};

TEST_F(RegionLogTest, IsReadAndGoneOnWith) {
  std::vector<Bytes> all;
  {
    const auto log = create();
    all = write(*log, 0, 50);
    EXPECT_EQ(all.size(), 50u);
    EXPECT_EQ(read(source()), all);
  }
  for (int opening = 1; opening < 4; ++opening) {
    const auto log = open(memories());
    EXPECT_EQ(read(source()), all);
    for (Bytes& record : write(*log, 1000u * opening, 20)) all.push_back(std::move(record));
  }
  EXPECT_EQ(all.size(), 110u);
  EXPECT_EQ(read(source()), all);
  EXPECT_EQ(regions[0]->bytes, regions[1]->bytes);
}

TEST_F(RegionLogTest, NothingAcknowledgedIsLostByKillsWhileACopyIsAway) {
  Random random(7);
  std::vector<Bytes> all;
  ASSERT_NE(create(), nullptr);
  int refused = 0;
  for (std::uint64_t n = 0; n < 200; ++n) {
    const auto life = std::make_shared<Life>();
    const std::optional<std::size_t> away =
        random.below(2) == 0 ? std::nullopt : std::optional<std::size_t>(random.below(3));
    life->writes = static_cast<std::int64_t>(random.below(random.below(3) == 0 ? 30 : 400));
    std::unique_ptr<Log> log;
    try {
      log = open(memories(life, away));
    } catch (const Error&) {
      ++refused;
    }
    std::vector<Bytes> more;
    if (log != nullptr) more = write(*log, n * 1000, 20, 1 + random.below(3000));
    const Position end = log == nullptr ? 0 : log->durable();
    log = nullptr;
    // What was not acknowledged may be there: it becomes part of the log, or not, at once.
    const auto next = open(memories());
    const std::vector<Bytes> now = read(source());
    ASSERT_GE(now.size(), all.size() + more.size()) << n << " " << end;
    for (Bytes& record : more) all.push_back(std::move(record));
    ASSERT_TRUE(std::equal(all.begin(), all.end(), now.begin())) << n;
    // Slots are few: what was there is cut away from time to time.
    if (n % 4 == 3) {
      next->cut(next->end());
      const auto last = write(*next, n * 1000 + 500, 1);
      ASSERT_EQ(last.size(), 1u);
    }
    all = read(source());
  }
  EXPECT_GT(refused, 3);
}

TEST_F(RegionLogTest, GoesOnWithoutOneCopyAndEndsWithoutTwo) {
  const auto log = create();
  std::vector<Bytes> all = write(*log, 0, 10);
  LogReader reader(source(), 0, LogTail::growing);
  for (const Bytes& record : all) {
    const auto read = reader.next();
    ASSERT_TRUE(read);
    EXPECT_EQ(Bytes(read->bytes.begin(), read->bytes.end()), record);
  }
  EXPECT_FALSE(reader.next());
  regions[0]->dead = true;
  const auto more = write(*log, 100, 10);
  ASSERT_EQ(more.size(), 10u);
  for (const Bytes& record : more) {
    const auto read = reader.next();
    ASSERT_TRUE(read);
    EXPECT_EQ(Bytes(read->bytes.begin(), read->bytes.end()), record);
  }
  EXPECT_FALSE(reader.next());
  regions[1]->dead = true;
  EXPECT_TRUE(write(*log, 200, 1).empty());
  EXPECT_EQ(log->failure().code(), StatusCode::unavailable);
  EXPECT_THAT(farvec::tests::message_of([&] { reader.next(); }), HasSubstr("dead"));
  EXPECT_THAT(farvec::tests::message_of([&] { read(source()); }), HasSubstr("must"));
  EXPECT_THAT(farvec::tests::message_of([&] { open(memories()); }), HasSubstr("must"));
}

TEST_F(RegionLogTest, ACopyThatFellBehindIsNotReadAndIsBroughtUp) {
  auto log = create();
  std::vector<Bytes> all = write(*log, 0, 10);
  log = open(memories(std::make_shared<Life>(), 0));
  for (Bytes& record : write(*log, 100, 10)) all.push_back(std::move(record));
  EXPECT_EQ(read(source()), all);
  log = nullptr;
  log = open(memories(std::make_shared<Life>(), 1));
  EXPECT_EQ(read(source()), all);
  for (Bytes& record : write(*log, 200, 10)) all.push_back(std::move(record));
  log = nullptr;
  regions[2] = std::make_shared<Region>();  // started again, with zeros
  log = open(memories());
  EXPECT_EQ(read(source()), all);
  EXPECT_EQ(regions[0]->bytes, regions[2]->bytes);
}

TEST_F(RegionLogTest, ANodeOfZerosDoesNotAnswerForTheLog) {
  auto log = create();
  write(*log, 0, 10);
  log = nullptr;
  regions[0] = std::make_shared<Region>();
  EXPECT_THAT(farvec::tests::message_of([&] { open(memories(std::make_shared<Life>(), 1)); }),
              HasSubstr("holds no log"));
}

TEST_F(RegionLogTest, DamageIsFoundAndAnotherCopyRead) {
  std::vector<Bytes> all;
  {
    const auto log = create();
    all = write(*log, 0, 30);
  }
  regions[0]->bytes[find(0, all[12])] ^= std::byte{4};
  EXPECT_EQ(read(source()), all);
  const auto log = open(memories());
  EXPECT_EQ(read(source()), all);
  EXPECT_EQ(regions[0]->bytes, regions[1]->bytes);
}

TEST_F(OneRegionLogTest, DamageInTheOnlyCopyIsRefused) {
  std::vector<Bytes> all;
  {
    const auto log = create();
    all = write(*log, 0, 30);
  }
  regions[0]->bytes[find(0, all[12])] ^= std::byte{4};
  EXPECT_THAT(farvec::tests::message_of([&] { read(source()); }), HasSubstr("memory 0, slot 0"));
  EXPECT_THAT(farvec::tests::message_of([&] { open(memories()); }), HasSubstr("no sound record"));
}

TEST_F(OneRegionLogTest, AFollowerSaysThatWhatFollowsADamagedRecordWasDurable) {
  const auto log = create();
  const std::vector<Bytes> all = write(*log, 0, 30);
  regions[0]->bytes[find(0, all[12])] ^= std::byte{4};
  LogReader reader(source(), 0, LogTail::growing);
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(reader.next());
  EXPECT_THAT(farvec::tests::message_of([&] {
                for (int i = 0; i < 100; ++i) ASSERT_FALSE(reader.next());
              }),
              HasSubstr("made durable"));
}

TEST_F(OneRegionLogTest, WhatDoesNotFitIsRefusedUntilThereIsRoom) {
  const auto log = create();
  std::vector<Bytes> all;
  constexpr std::size_t kSize = 1 << 20;
  Result<Position> end = Position{0};
  for (std::uint64_t n = 0;; ++n) {
    ASSERT_LT(n, 100u);
    const Bytes record = record_of(n, kSize);
    const Result<Position> appended = append(*log, record);
    if (!appended.ok()) {
      EXPECT_EQ(appended.status().code(), StatusCode::resource_exhausted);
      break;
    }
    end = appended;
    ASSERT_TRUE(log->wait(end.value(), in_seconds(30)).ok());
    all.push_back(record);
  }
  EXPECT_EQ(read(source()), all);
  log->cut(end.value());
  const auto more = write(*log, 1000, 2);
  EXPECT_EQ(more.size(), 2u);
  EXPECT_THAT(read(source()), testing::Not(testing::IsEmpty()));
}

TEST_F(OneRegionLogTest, TooSmallOrForeignMemoryIsRefused) {
  ASSERT_NE(create(), nullptr);
  EXPECT_THAT(
      farvec::tests::message_of([&] { create_region_log(writers(memories()), {kLogId + 1}, {}); }),
      HasSubstr("another collection"));
  EXPECT_THAT(
      farvec::tests::message_of([&] { recover_region_log(writers(memories()), {kLogId + 1}); }),
      HasSubstr("another collection"));
  regions[0]->bytes.assign(1 << 20, std::byte{0});
  EXPECT_THAT(farvec::tests::message_of([&] { create(); }), HasSubstr("--log-bytes"));
}

TEST_F(RegionLogTest, ALogThatSomebodyElseOpenedSinceIsRefusedAndUntouched) {
  std::vector<Bytes> all = write(*create(), 0, 10);
  const std::uint32_t known = epoch_of(0);
  for (Bytes& record : write(*open(memories()), 100, 10)) all.push_back(std::move(record));
  const auto before = regions[1]->bytes;
  const RegionLogName name{kLogId, known};
  EXPECT_THAT(farvec::tests::message_of([&] { recover_region_log(writers(memories()), name); }),
              HasSubstr("a copy of the folder was opened"));
  EXPECT_THAT(
      farvec::tests::message_of([&] { (void)create_region_log(writers(memories()), name, {}); }),
      HasSubstr("a copy of the folder was opened"));
  EXPECT_EQ(regions[1]->bytes, before);
  EXPECT_EQ(read(source()), all);
  const RegionLogName last{kLogId, epoch_of(0)};
  const layout::LogRegionHeader next = recover_region_log(writers(memories()), last);
  EXPECT_GT(next.epoch, *last.last_epoch);
  epoch = 0;  // nodes that were started again count anew
  const RegionLogName far{kLogId, 1000};
  EXPECT_EQ(recover_region_log(writers(memories()), far).epoch, 1001u);
}

}  // namespace
}  // namespace farvec::wal
