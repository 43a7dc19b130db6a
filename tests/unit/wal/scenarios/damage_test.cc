// What a reader says of a log that somebody has damaged, and of one that was only not finished.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/input_file.h"
#include "layout/log/log_frame.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/wal/log_fixture.h"
#include "tests/unit/wal/simulated_disk.h"
#include "wal/log_segment_list.h"
#include "wal/segment_log.h"

namespace farvec::wal {
namespace {

namespace fs = std::filesystem;
using farvec::tests::message_of;
using farvec::tests::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::append;
using tests::in_seconds;
using tests::read_log;
using tests::record_of;
using tests::small_log;

/// Of the first `count` records of 1,000 bytes.
constexpr std::uint64_t offset_of(std::uint64_t record) {
  return layout::kLogHeaderBytes + record * layout::log_frame_bytes(1000);
}

class DamageTest : public ::testing::Test {
 protected:
  /// Groups of `group` records each; `closed`, or as a kill behind the last one leaves it.
  void write(int records, int group, bool closed) {
    tests::SimulatedDisk disk(path_);
    LogOptions options = small_log(path_);
    options.durability = Durability::none;
    const auto log = create_log(options, disk.folder());
    for (int i = 0; i < records; ++i) {
      ASSERT_TRUE(append(*log, record_of(i, 1000)).ok());
      ASSERT_TRUE((i + 1) % group != 0 || log->flush(log->end(), in_seconds(60)).ok());
    }
    ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
    if (!closed) disk.faults.power_cut_at = 0;
  }

  std::string segment(std::uint64_t number) const {
    return (path_ / log_segment_name(number)).string();
  }

  static void change(const std::string& path, std::uint64_t offset, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  static void flip(const std::string& path, std::uint64_t offset) {
    char byte = 0;
    InputFile(path).read_at(offset, &byte, 1);
    change(path, offset, std::string(1, static_cast<char>(byte ^ 16)));
  }
  std::string refusal() const {
    const std::string said = message_of([&] { (void)read_log(path_); });
    const std::string opened = message_of([&] { (void)Log::open(small_log(path_)); });
    EXPECT_NE(opened, "") << "the reader says: " << said;
    return said;
  }

  TemporaryFolder folder_;
  const fs::path path_ = folder_.path() / "log";
};

TEST_F(DamageTest, InAGroupBehindWhichAnotherWasWrittenIsRefused) {
  write(8, 2, false);
  // Headers and bytes of every record but those of the last group.
  for (int record = 0; record < 6; ++record) {
    for (const std::uint64_t in_record : {0, 5, 9, 17, 21, 24, 500, 1023}) {
      const std::uint64_t offset = offset_of(record) + in_record;
      flip(segment(0), offset);
      EXPECT_THAT(refusal(), AllOf(HasSubstr(segment(0)),
                                   HasSubstr(fmt::format("offset {} ", offset_of(record))),
                                   HasSubstr("restore")))
          << record << "+" << in_record;
      flip(segment(0), offset);
    }
  }
  EXPECT_EQ(read_log(path_).records.size(), 8u);
}

TEST_F(DamageTest, BehindWhichOnlyAnEmptyRecordWasWrittenIsRefused) {
  {
    tests::SimulatedDisk disk(path_);
    const auto log = create_log(small_log(path_), disk.folder());
    for (const std::size_t size : {1000, 0}) {
      ASSERT_TRUE(append(*log, record_of(1, size)).ok());
      ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
    }
    disk.faults.power_cut_at = 0;
  }
  EXPECT_EQ(read_log(path_).records.size(), 2u);
  flip(segment(0), offset_of(0) + 100);
  EXPECT_THAT(refusal(), HasSubstr("made durable"));
}

TEST_F(DamageTest, InTheLastGroupIsATornEndUnlessTheLogWasClosed) {
  write(8, 2, false);
  flip(segment(0), offset_of(6) + 100);
  const auto read = read_log(path_);
  EXPECT_EQ(read.records.size(), 6u);
  EXPECT_EQ(read.torn_bytes, 2 * layout::log_frame_bytes(1000));
  fs::remove_all(path_);

  write(8, 2, true);
  flip(segment(0), offset_of(6) + 100);
  EXPECT_THAT(refusal(), HasSubstr("made durable"));
}

TEST_F(DamageTest, ATornEndIsCutAndNeverComesBack) {
  write(8, 4, false);
  // Of the second group of four records the first one's sectors never arrived.
  change(segment(0), offset_of(4), std::string(1024, '\0'));
  EXPECT_EQ(read_log(path_).records.size(), 4u);
  EXPECT_EQ(read_log(path_).torn_bytes, 4 * layout::log_frame_bytes(1000));
  {
    const auto log = Log::open(small_log(path_));
    ASSERT_TRUE(append(*log, record_of(4, 1000)).ok());
    EXPECT_EQ(fs::file_size(segment(0)), offset_of(4));
    EXPECT_EQ(log->disk_bytes(), offset_of(4) + 16384);
  }
  const auto read = read_log(path_);
  ASSERT_EQ(read.records.size(), 5u);
  EXPECT_EQ(read.records[4].bytes, record_of(4, 1000));
  EXPECT_EQ(read.torn_bytes, 0u);
}

TEST_F(DamageTest, OfASegmentThatAnotherFollowsIsRefused) {
  write(30, 30, false);
  flip(segment(0), offset_of(10) + 30);
  EXPECT_THAT(message_of([&] { (void)read_log(path_); }),
              AllOf(HasSubstr(segment(0)), HasSubstr("the next segment says")));
  // From behind the damage on the log may be read.
  EXPECT_EQ(read_log(path_, 15 * layout::log_frame_bytes(1000)).records.size(), 15u);
}

TEST_F(DamageTest, MissingSegmentsAreNamed) {
  write(40, 10, true);
  fs::rename(segment(1), path_ / "kept");
  EXPECT_THAT(refusal(), AllOf(HasSubstr(segment(1)), HasSubstr("is missing")));
  fs::rename(path_ / "kept", segment(1));
  fs::remove(segment(0));
  EXPECT_THAT(message_of([&] { (void)read_log(path_); }), HasSubstr("is needed from 0"));
  fs::remove(segment(3));
  EXPECT_THAT(message_of([&] { (void)read_log(path_, 40 * 1024); }), HasSubstr("ends at position"));
}

TEST_F(DamageTest, PositionsInsideRecordsAreNone) {
  write(10, 10, true);
  EXPECT_THAT(message_of([&] { (void)read_log(path_, 1000); }), HasSubstr("begins at position"));
  EXPECT_THAT(message_of([&] { (void)read_log(path_, 1 << 20); }), HasSubstr("is needed from"));
}

TEST_F(DamageTest, ForeignAndRenamedSegmentsAreNamed) {
  write(20, 10, true);
  fs::rename(path_, folder_.path() / "other");
  write(20, 10, true);
  fs::copy_file(folder_.path() / "other" / log_segment_name(1), segment(1),
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(refusal(), AllOf(HasSubstr(segment(1)), HasSubstr("another log")));
  fs::rename(segment(1), segment(2));
  EXPECT_THAT(refusal(), HasSubstr("give it the name"));
  change(segment(2), 0, "something else");
  EXPECT_THAT(refusal(), HasSubstr("not a segment of a farvec log"));
}

TEST_F(DamageTest, AnotherVersionIsNamed) {
  write(2, 1, true);
  change(segment(0), 8, std::string(1, '\x09'));
  EXPECT_THAT(refusal(), HasSubstr("version 9"));
}

TEST_F(DamageTest, FilesCutShortAreRefused) {
  write(20, 5, true);
  for (const std::uint64_t size : {16383, 5000, 4096, 100, 0}) {
    fs::resize_file(segment(1), size);
    EXPECT_THAT(refusal(), HasSubstr(size < 4096 ? "truncated" : "cut short")) << size;
  }
}

TEST_F(DamageTest, BytesOfAnOlderSegmentAreNoRecords) {
  write(20, 5, false);
  // As a recycled file would have them: the records of segment 0 behind those of segment 1.
  std::string old(2 * 1024, '\0');
  InputFile(segment(0)).read_at(offset_of(5), old.data(), old.size());
  change(segment(1), offset_of(9), old);
  const auto read = read_log(path_);
  EXPECT_EQ(read.records.size(), 20u);
  EXPECT_EQ(read.torn_bytes, old.size());
}

}  // namespace
}  // namespace farvec::wal
