// A log that is read while somebody appends to it.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <thread>

#include "base/error.h"
#include "layout/log/log_segment.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/wal/log_fixture.h"
#include "wal/log_segment_list.h"

namespace farvec::wal {
namespace {

using tests::append;
using tests::Bytes;
using tests::in_seconds;
using tests::record_of;

class GrowingLog : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "log"; }
  LogOptions options() const { return tests::small_log(path()); }

  /// `count` more records; all of them are written when it returns.
  void write(std::size_t count, std::size_t size) {
    for (std::size_t i = 0; i < count; ++i) {
      const Bytes record = record_of(written_.size(), size);
      ends_.push_back(append(*log_, record).value());
      written_.push_back(record);
    }
    ASSERT_TRUE(log_->flush(log_->end(), in_seconds(60)).ok());
  }

  /// What the reader has by now follows what it had before.
  void read(LogReader& reader) {
    while (const auto record = reader.next()) {
      ASSERT_LT(read_, written_.size());
      ASSERT_TRUE(std::equal(record->bytes.begin(), record->bytes.end(), written_[read_].begin(),
                             written_[read_].end()))
          << "record " << read_;
      ASSERT_EQ(record->end, ends_[read_]);
      ++read_;
    }
  }

  farvec::tests::TemporaryFolder folder_;
  std::unique_ptr<Log> log_ = Log::create(options());
  std::vector<Bytes> written_;
  std::vector<Position> ends_;
  std::size_t read_ = 0;
};

TEST_F(GrowingLog, HasWhatWasWrittenSince) {
  LogReader reader(path(), log_->end(), LogTail::growing);
  for (const std::size_t size : {0, 1, 8, 500, 3000, 9000}) {
    for (const std::size_t count : {0, 1, 7, 40}) {
      write(count, size);
      read(reader);
      EXPECT_EQ(read_, written_.size());
      EXPECT_EQ(reader.end(), log_->end());
    }
  }
}

TEST_F(GrowingLog, GoesOnWithALogThatIsOpenedAgain) {
  LogReader reader(path(), log_->end(), LogTail::growing);
  for (int life = 0; life < 5; ++life) {
    write(3, 1000);
    if (life % 2 == 0) read(reader);
    log_.reset();
    read(reader);
    log_ = Log::open(options());
    read(reader);
    EXPECT_EQ(read_, written_.size());
  }
}

TEST_F(GrowingLog, GoesOnBehindLivesThatWroteNothing) {
  LogReader reader(path(), log_->end(), LogTail::growing);
  for (int life = 0; life < 12; ++life) {
    log_.reset();
    if (life % 3 == 0) read(reader);
    log_ = Log::open(options());
    if (life % 2 == 0) read(reader);
    if (life % 4 == 3) write(2, 100);
    read(reader);
    EXPECT_EQ(read_, written_.size());
  }
}

TEST_F(GrowingLog, MissesNothingThatIsCutBehindIt) {
  LogReader reader(path(), log_->end(), LogTail::growing);
  for (int round = 0; round < 10; ++round) {
    write(30, 900);
    read(reader);
    log_->cut(log_->end());
  }
  EXPECT_EQ(read_, written_.size());
}

TEST_F(GrowingLog, SaysWhenItWasCutBeforeItWasRead) {
  LogReader reader(path(), log_->end(), LogTail::growing);
  write(1, 100);
  read(reader);
  write(60, 900);
  log_->cut(log_->end());
  EXPECT_THROW(
      {
        while (reader.next()) {
        }
      },
      Error);
}

TEST_F(GrowingLog, APartOfARecordIsNone) {
  write(3, 200);
  LogReader reader(path(), 0, LogTail::growing);
  read(reader);
  log_.reset();
  // In place of the mark of a closed log: bytes that are no record.
  std::vector<std::filesystem::path> files(std::filesystem::directory_iterator(path()), {});
  const auto file = std::find_if(files.begin(), files.end(),
                                 [](const auto& name) { return name.extension() == ".log"; });
  ASSERT_NE(file, files.end());
  std::fstream bytes(*file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(static_cast<std::streamoff>(layout::kLogHeaderBytes + reader.end()));
  bytes.write("half a record, as it may be seen", 32);
  bytes.close();
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.next().has_value());
  log_ = Log::open(options());
  write(2, 200);
  read(reader);
  EXPECT_EQ(read_, written_.size());
}

/// It asks for the next segment alone: what else lies in the folder is not looked at.
TEST_F(GrowingLog, AnIdleReaderDoesNotListTheFolder) {
  LogReader reader(path(), log_->end(), LogTail::growing);
  write(3, 200);
  read(reader);
  const std::filesystem::path strange = path() / log_segment_name(1000);
  std::ofstream(strange) << "no segment";
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(reader.next().has_value());
  std::filesystem::remove(strange);
  write(60, 900);
  read(reader);
  EXPECT_EQ(read_, written_.size());
}

TEST_F(GrowingLog, ReadsBesideAWriter) {
  constexpr std::size_t kRecords = 4000;
  std::vector<Position> ends(kRecords);
  std::atomic<bool> failed{false};
  LogReader reader(path(), 0, LogTail::growing);
  std::thread writer([&] {
    for (std::size_t i = 0; i < kRecords; ++i) {
      const Result<Position> end = append(*log_, record_of(i, i % 700));
      if (!end.ok()) {
        failed = true;
        return;
      }
      ends[i] = end.value();
      if (i % 37 == 0) (void)log_->flush(end.value(), in_seconds(60));
    }
    if (!log_->flush(log_->end(), in_seconds(60)).ok()) failed = true;
  });
  std::vector<Bytes> records;
  std::vector<Position> read_ends;
  const Ticks deadline = in_seconds(120);
  while (records.size() < kRecords && !failed && now_ticks() < deadline) {
    const auto record = reader.next();
    if (!record) continue;
    records.emplace_back(record->bytes.begin(), record->bytes.end());
    read_ends.push_back(record->end);
  }
  writer.join();
  ASSERT_FALSE(failed);
  ASSERT_EQ(records.size(), kRecords);
  EXPECT_EQ(read_ends, ends);
  for (std::size_t i = 0; i < kRecords; ++i) ASSERT_EQ(records[i], record_of(i, i % 700)) << i;
}

}  // namespace
}  // namespace farvec::wal
