// A log on disks that are full, or fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/message_of.h"
#include "tests/unit/wal/log_fixture.h"
#include "tests/unit/wal/segment_log_fixture.h"
#include "tests/unit/wal/simulated_disk.h"
#include "wal/segment_log.h"

namespace farvec::wal {
namespace {

using farvec::tests::FileSizeLimit;
using farvec::tests::message_of;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using tests::append;
using tests::Bytes;
using tests::in_seconds;
using tests::read_log;
using tests::record_of;
using tests::small_log;

TEST_F(SegmentLogTest, FullDiskTakesNothingAndTheLogGoesOnWhenThereIsRoom) {
  tests::SimulatedDisk disk(path_);
  disk.faults.room_bytes = 3 * 16384;
  std::vector<Bytes> sent;
  {
    const auto log = create_log(small_log(path_), disk.folder());
    const auto fill = [&] {
      for (;;) {
        Bytes record = record_of(sent.size(), 1000);
        const Position before = log->end();
        const auto end = append(*log, record);
        if (end.ok()) {
          sent.push_back(std::move(record));
          continue;
        }
        EXPECT_EQ(log->end(), before);
        return end.status().code();
      }
    };
    EXPECT_EQ(fill(), StatusCode::resource_exhausted);
    EXPECT_EQ(sent.size(), 3u * 11);
    EXPECT_TRUE(log->failure().ok());
    EXPECT_EQ(fill(), StatusCode::resource_exhausted);
    ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
    log->cut(log->end());
    EXPECT_EQ(fill(), StatusCode::resource_exhausted);
    EXPECT_EQ(sent.size(), 5u * 11);
    ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
    EXPECT_EQ(log->disk_bytes(), 3u * 16384);
  }
  sent.erase(sent.begin(), sent.begin() + 22);
  const Position begin = Log::open(small_log(path_))->begin();
  EXPECT_THAT(read_log(path_, begin).bytes(), ElementsAreArray(sent));
}

/// The file system's, until its syncs fail.
class UnsyncedFolder final : public LogFolder {
 public:
  UnsyncedFolder(const std::filesystem::path& path, std::atomic<bool>& fails)
      : folder_(disk_folder(path)), fails_(fails) {}
  const std::filesystem::path& path() const override { return folder_->path(); }
  std::unique_ptr<LogFile> create(const std::string& name, std::uint64_t bytes) override {
    return folder_->create(name, bytes);
  }
  std::unique_ptr<LogFile> open(const std::string& name) override { return folder_->open(name); }
  void rename(const std::string& from, const std::string& to) override {
    folder_->rename(from, to);
  }
  void remove(const std::string& name) override { folder_->remove(name); }
  void sync() override {
    if (fails_) throw SystemError(EIO, "syncing");
    folder_->sync();
  }

 private:
  std::unique_ptr<LogFolder> folder_;
  std::atomic<bool>& fails_;
};

TEST_F(SegmentLogTest, ACutThatFailedIsGoneOnWith) {
  std::filesystem::create_directories(path_);
  std::atomic<bool> fails = false;
  const auto log = create_log(small_log(path_), std::make_unique<UnsyncedFolder>(path_, fails));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(append(*log, record_of(i, 1000)).ok());
  ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
  const std::uint64_t all = log->disk_bytes();
  fails = true;
  log->cut(log->end());
  EXPECT_EQ(log->disk_bytes(), all);
  fails = false;
  log->cut(log->end());
  EXPECT_EQ(log->disk_bytes(), 16384u);
  EXPECT_TRUE(append(*log, record_of(50, 1000)).ok());
}

/// Whatever an allocation throws, those who wait for it go on.
TEST_F(SegmentLogTest, AnAllocationThatThrowsRefusesOneRecordAndKeepsNobodyWaiting) {
  class ThrowingFolder final : public LogFolder {
   public:
    ThrowingFolder(const std::filesystem::path& path, std::atomic<int>& fails)
        : folder_(disk_folder(path)), fails_(fails) {}
    const std::filesystem::path& path() const override { return folder_->path(); }
    std::unique_ptr<LogFile> create(const std::string& name, std::uint64_t bytes) override {
      switch (fails_.exchange(0)) {
        case 1:
          throw std::bad_alloc();
        case 2:
          throw Error("no such memory");
        case 3:
          throw std::filesystem::filesystem_error("x", std::make_error_code(std::errc::io_error));
        default:
          return folder_->create(name, bytes);
      }
    }
    std::unique_ptr<LogFile> open(const std::string& name) override { return folder_->open(name); }
    void rename(const std::string& from, const std::string& to) override {
      folder_->rename(from, to);
    }
    void remove(const std::string& name) override { folder_->remove(name); }
    void sync() override { folder_->sync(); }

   private:
    std::unique_ptr<LogFolder> folder_;
    std::atomic<int>& fails_;
  };
  std::filesystem::create_directories(path_);
  std::atomic<int> fails = 0;
  const auto log = create_log(small_log(path_), std::make_unique<ThrowingFolder>(path_, fails));
  std::vector<Bytes> taken;
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    if (i % 15 == 5) fails = 1 + i / 15;
    const Bytes record = record_of(i, 1000);
    const Result<Position> end = append(*log, record);
    if (end.ok()) {
      taken.push_back(record);
    } else {
      ++refused;
      EXPECT_EQ(end.status().code(), StatusCode::unavailable);
    }
  }
  EXPECT_EQ(refused, 3);
  ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
  EXPECT_THAT(read_log(path_, log->begin()).bytes(), ElementsAreArray(taken));
}

TEST_F(SegmentLogTest, SmallerSegmentsTakeWhatANearlyFullDiskHasRoomFor) {
  tests::SimulatedDisk disk(path_);
  constexpr std::uint64_t kSegment = 1 << 20;
  LogOptions options = small_log(path_);
  options.segment_bytes = kSegment;
  disk.faults.room_bytes = kSegment + 3 * kMinSegmentBytes;
  std::vector<Bytes> sent;
  const auto send = [&](Log& log, std::size_t bytes) {
    Bytes record = record_of(sent.size(), bytes);
    const Status status = append(log, record).status();
    if (status.ok()) sent.push_back(std::move(record));
    return status;
  };
  {
    const auto log = create_log(options, disk.folder());
    while (log->end() < kSegment - 4096) ASSERT_TRUE(send(*log, 3000).ok());
    ASSERT_TRUE(send(*log, 6000).ok()) << "a segment of its own, far smaller than the others";
    ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
    EXPECT_GT(log->disk_bytes(), kSegment);
    EXPECT_LE(log->disk_bytes(), disk.faults.room_bytes);
    EXPECT_EQ(send(*log, 50'000).code(), StatusCode::resource_exhausted);
    ASSERT_TRUE(send(*log, 100).ok());
  }
  {
    const auto log = open_log(options, disk.folder());
    ASSERT_TRUE(send(*log, 10).ok());
  }
  EXPECT_THAT(read_log(path_).bytes(), ElementsAreArray(sent));
  disk.faults.room_bytes = ~0ull;
  const auto log = open_log(options, disk.folder());
  ASSERT_TRUE(send(*log, 50'000).ok()) << "of the usual size again";
}

TEST_F(SegmentLogTest, ADiskWithoutRoomAtFirstLeavesNothing) {
  const FileSizeLimit limit(8192);
  EXPECT_THAT(message_of([&] { (void)Log::create(small_log(path_)); }), HasSubstr("allocating"));
  EXPECT_TRUE(std::filesystem::is_empty(path_));
}

class FailingLogTest : public SegmentLogTest, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(, FailingLogTest, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "Sync" : "Write"; });

TEST_P(FailingLogTest, EndsAndSaysSoAndWhatWasDurableIsFoundAgain) {
  tests::SimulatedDisk disk(path_);
  std::vector<Bytes> sent;
  Status failure;
  {
    const auto log = create_log(small_log(path_), disk.folder());
    for (int i = 0; i < 30; ++i) {
      sent.push_back(record_of(i, 700));
      ASSERT_TRUE(append(*log, sent.back()).ok());
    }
    ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
    (GetParam() ? disk.faults.sync_error : disk.faults.write_error) = EIO;
    const Position durable = log->durable();
    const auto end = append(*log, record_of(31, 700));
    ASSERT_TRUE(end.ok());
    failure = log->wait(end.value(), in_seconds(60));
    EXPECT_EQ(failure.code(), StatusCode::unavailable);
    EXPECT_EQ(log->failure().code(), StatusCode::unavailable);
    EXPECT_EQ(append(*log, record_of(32, 1)).status().code(), StatusCode::unavailable);
    EXPECT_EQ(log->durable(), durable);
    EXPECT_TRUE(log->flush(durable, 0).ok());
    disk.faults = {};
  }
  Random random(1);
  disk.power_cycle(random);
  const auto read = read_log(path_).bytes();
  ASSERT_EQ(read.size(), 30u) << "the record that was not acknowledged never reached the disk";
  EXPECT_THAT(read, ElementsAreArray(sent));
}

TEST_F(SegmentLogTest, AnOpenWritesAgainWhatAFailedSyncLeftInThePageCache) {
  tests::SimulatedDisk disk(path_);
  {
    const auto log = create_log(small_log(path_), disk.folder());
    disk.faults.sync_error = EIO;
    const auto end = append(*log, record_of(1, 3000));
    EXPECT_FALSE(log->wait(end.value(), in_seconds(60)).ok());
    disk.faults = {};
  }
  EXPECT_EQ(read_log(path_).records.size(), 1u) << "seen by this kernel, not on the disk";
  { const auto log = open_log(small_log(path_), disk.folder()); }
  Random random(1);
  disk.power_cycle(random);
  EXPECT_EQ(read_log(path_).records.size(), 1u);
}

TEST_F(SegmentLogTest, EndsWhenTheDiskHasNoRoomForWhatItAllocated) {
  tests::SimulatedDisk disk(path_);
  const auto log = create_log(small_log(path_), disk.folder());
  disk.faults.write_error = ENOSPC;
  const auto end = append(*log, record_of(1, 10));
  EXPECT_EQ(log->wait(end.value(), in_seconds(60)).code(), StatusCode::resource_exhausted);
  EXPECT_EQ(log->failure().code(), StatusCode::resource_exhausted);
}

}  // namespace
}  // namespace farvec::wal
