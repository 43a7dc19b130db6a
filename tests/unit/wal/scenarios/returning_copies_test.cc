// Copies of a log that come back while it grows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/unit/message_of.h"
#include "tests/unit/wal/log_fixture.h"
#include "tests/unit/wal/region_log_fixture.h"

namespace farvec::wal {
namespace {

using testing::HasSubstr;
using tests::Bytes;
using tests::kLogId;
using tests::Life;
using tests::RegionLogTest;

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

}  // namespace
}  // namespace farvec::wal
