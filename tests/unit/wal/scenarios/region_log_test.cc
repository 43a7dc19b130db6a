// A log on several memories: written, followed, and brought back, whatever becomes of them.
#include "wal/region_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/unit/message_of.h"
#include "tests/unit/wal/log_fixture.h"
#include "wal/log_reader.h"
#include "wal/region_source.h"

namespace farvec::wal {
namespace {

using testing::HasSubstr;
using tests::append;
using tests::Bytes;
using tests::in_seconds;
using tests::record_of;

constexpr std::uint64_t kLogId = 77;
constexpr std::size_t kRegionBytes = (std::size_t{17} << 20) + 5;  // 8 slots

/// A memory node's, of which the process that writes may die between any two bytes.
struct Region {
  std::mutex mutex;
  std::vector<std::byte> bytes = std::vector<std::byte>(kRegionBytes);
  std::atomic<bool> dead = false;
};

/// What one process may still do.
struct Life {
  std::atomic<std::int64_t> writes{1 << 30};
};

class SharedMemory final : public LogMemory {
 public:
  SharedMemory(std::shared_ptr<Region> region, std::shared_ptr<Life> life, std::string name)
      : region_(std::move(region)), life_(std::move(life)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t bytes() const override { return region_->bytes.size(); }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    const std::lock_guard lock(region_->mutex);
    if (region_->dead) throw Error("{} is dead", name_);
    ASSERT_LE(offset + to.size(), region_->bytes.size());
    std::memcpy(to.data(), region_->bytes.data() + offset, to.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(region_->mutex);
    if (region_->dead) throw Error("{} is dead", name_);
    ASSERT_LE(offset + bytes.size(), region_->bytes.size());
    const std::int64_t left = life_->writes.fetch_sub(1);
    // The last write of a life is torn, but for words.
    const std::size_t part = left > 1 ? bytes.size() : left == 1 ? bytes.size() / 16 * 8 : 0;
    std::memcpy(region_->bytes.data() + offset, bytes.data(), part);
    if (left <= 1) throw Error("the writer was killed");
  }
  void flush() override {
    if (region_->dead || life_->writes <= 0) throw Error("{} is dead", name_);
  }

 private:
  const std::shared_ptr<Region> region_;
  const std::shared_ptr<Life> life_;
  const std::string name_;
};

struct RegionLogTest : testing::Test {
  std::vector<std::shared_ptr<Region>> regions;
  std::uint32_t epoch = 0;

  explicit RegionLogTest(std::size_t copies = 3) {
    for (std::size_t i = 0; i < copies; ++i) regions.push_back(std::make_shared<Region>());
  }

  LogMemories memories(const std::shared_ptr<Life>& life = std::make_shared<Life>(),
                       std::optional<std::size_t> away = {}) const {
    LogMemories memories;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      memories.push_back(away == i ? nullptr
                                   : std::make_shared<SharedMemory>(regions[i], life,
                                                                    "memory " + std::to_string(i)));
    }
    return memories;
  }
  RegionWriters writers(LogMemories memories) {
    return {std::move(memories), static_cast<std::uint16_t>(regions.size() / 2 + 1), ++epoch};
  }
  std::unique_ptr<Log> create() { return create_region_log(writers(memories()), kLogId, {}); }
  std::unique_ptr<Log> open(LogMemories memories, LogReach reach = nullptr) {
    RegionWriters all = writers(std::move(memories));
    all.reach = std::move(reach);
    return open_region_log(all, recover_region_log(all, kLogId), {});
  }
  /// Of regions that are not dead, for who may do what is left of `life`.
  LogReach reach(const std::shared_ptr<Life>& life = std::make_shared<Life>()) const {
    return [this, life](std::size_t copy, const std::atomic<bool>&) {
      auto memory = memories(life)[copy];
      (void)read_region_header(*memory);  // throws
      return memory;
    };
  }
  /// In place of one that has died; its process was started again.
  void start_again(std::size_t copy) {
    const std::lock_guard lock(regions[copy]->mutex);
    std::fill(regions[copy]->bytes.begin(), regions[copy]->bytes.end(), std::byte{0});
    regions[copy]->dead = false;
  }
  void kill(std::size_t copy) {
    const std::lock_guard lock(regions[copy]->mutex);
    regions[copy]->dead = true;
  }
  static bool comes_to(const Log& log, std::uint32_t there) {
    for (int look = 0; look < 6000 && log.copies().there != there; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return log.copies() == LogCopies{log.copies().wanted, there};
  }
  std::shared_ptr<RegionSource> source() const {
    return RegionSource::make(memories(), kLogId, RegionSource::Quorum::asked);
  }
  std::vector<Bytes> read(std::shared_ptr<LogSource> from) const {
    const Position begin = from->segments().front().header.first;
    LogReader reader(std::move(from), begin);
    std::vector<Bytes> read;
    while (const auto record = reader.next()) {
      read.emplace_back(record->bytes.begin(), record->bytes.end());
    }
    return read;
  }
  /// Acknowledged ones.
  static std::vector<Bytes> write(Log& log, std::uint64_t first, int count,
                                  std::size_t size = 100) {
    std::vector<Bytes> done;
    for (int i = 0; i < count; ++i) {
      Bytes record = record_of(first + static_cast<std::uint64_t>(i), size);
      const auto end = append(log, record);
      if (!end.ok() || !log.wait(end.value(), in_seconds(30)).ok()) break;
      done.push_back(std::move(record));
    }
    return done;
  }
  /// Where a record's bytes lie in a copy.
  std::size_t find(std::size_t copy, const Bytes& record) const {
    const auto& bytes = regions[copy]->bytes;
    const auto found = std::search(bytes.begin(), bytes.end(), record.begin(), record.end());
    EXPECT_NE(found, bytes.end());
    return static_cast<std::size_t>(found - bytes.begin());
  }
};

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

TEST_F(RegionLogTest, EachCopyComesBackWhileTheLogGrowsAndHoldsAllOfIt) {
  std::vector<Bytes> all = write(*create(), 0, 10);
  auto log = open(memories(), reach());
  EXPECT_EQ(log->copies(), (LogCopies{3, 3}));
  std::uint64_t next = 1000;
  const auto write_one = [&](std::size_t size) {
    for (Bytes& record : write(*log, ++next, 1, size)) all.push_back(std::move(record));
  };
  for (std::size_t copy = 0; copy < 3; ++copy) {
    kill(copy);
    write_one(100);
    EXPECT_EQ(log->copies().there, 2u);
    start_again(copy);
    // While it is brought up; as much as there is room for.
    for (std::size_t round = 0; round < 600 && log->copies().there < 3; ++round) {
      write_one(1 + 977 * (round % 8));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ASSERT_TRUE(comes_to(*log, 3));
    write_one(10);
    EXPECT_EQ(read(source()), all) << copy;
  }
  EXPECT_EQ(all.size(), 10 + next - 1000);
  log = nullptr;
  EXPECT_EQ(regions[0]->bytes, regions[1]->bytes);
  EXPECT_EQ(regions[0]->bytes, regions[2]->bytes);
  log = open(memories(std::make_shared<Life>(), 2), reach());
  EXPECT_TRUE(comes_to(*log, 3)) << "it was away when the log was opened";
  EXPECT_EQ(read(source()), all);
}

TEST_F(RegionLogTest, ACopyThatDiesWhileNothingIsWrittenIsMissed) {
  create();
  const auto log = open(memories(), reach());
  kill(1);
  EXPECT_TRUE(comes_to(*log, 2));
  start_again(1);
  EXPECT_TRUE(comes_to(*log, 3));
}

TEST_F(RegionLogTest, OneThatFailsWhileItIsBroughtUpDoesNotCount) {
  std::vector<Bytes> all = write(*create(), 0, 10);
  const auto life = std::make_shared<Life>();
  life->writes = 3;
  {
    const auto log = open(memories(std::make_shared<Life>(), 0), reach(life));
    for (int look = 0; look < 6000 && life->writes > 0; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (Bytes& record : write(*log, 100, 5)) all.push_back(std::move(record));
    EXPECT_EQ(log->copies().there, 2u);
  }
  ASSERT_EQ(all.size(), 15u);
  EXPECT_THAT(farvec::tests::message_of([&] { open(memories(std::make_shared<Life>(), 1)); }),
              HasSubstr("holds no log"));
  const auto log = open(memories());
  EXPECT_EQ(read(source()), all);
}

TEST_F(RegionLogTest, AnothersLogIsNotWrittenOver) {
  write(*create(), 0, 10);
  std::atomic<int> tried{0};
  const auto log = open(memories(std::make_shared<Life>(), 0),
                        [&, any = reach()](std::size_t copy, const std::atomic<bool>& stop) {
                          ++tried;
                          return any(copy, stop);
                        });
  layout::LogRegionHeader other = *read_region_header(*memories()[1]);
  other.log_id = kLogId + 1;
  const layout::LogRegionBytes bytes = layout::encode_log_region(other);
  {
    const std::lock_guard lock(regions[0]->mutex);
    std::copy(bytes.begin(), bytes.end(), regions[0]->bytes.begin());
  }
  for (int look = 0; look < 6000 && tried < 2; ++look) {  // the first time is over then
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(log->copies().there, 2u);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), regions[0]->bytes.begin()));
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
      farvec::tests::message_of([&] { create_region_log(writers(memories()), kLogId + 1, {}); }),
      HasSubstr("another collection"));
  EXPECT_THAT(
      farvec::tests::message_of([&] { recover_region_log(writers(memories()), kLogId + 1); }),
      HasSubstr("another collection"));
  regions[0]->bytes.assign(1 << 20, std::byte{0});
  EXPECT_THAT(farvec::tests::message_of([&] { create(); }), HasSubstr("--log-bytes"));
}

}  // namespace
}  // namespace farvec::wal
