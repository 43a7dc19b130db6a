// Tests of an engine whose disk is full: a file system of its own, which root alone can make.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/postgres/engine/engine_program.h"

namespace farvec::postgres::tests {
namespace {

/// Long rows, of which a memtable has some hundreds.
constexpr std::uint32_t kLong = 1000;
constexpr std::uint32_t kBatch = 10;
constexpr std::uint64_t kMostRows = 5000;
constexpr std::uint64_t kBegun = 101;  ///< after the rows that a test begins with

class EngineFullDisk : public EngineProgram {
 protected:
  void SetUp() override {
    fs::create_directory(all_);
    is_mounted_ = mount("tmpfs", all_.c_str(), "tmpfs", 0, "size=16m") == 0;
    if (!is_mounted_) GTEST_SKIP() << "cannot mount: " << std::strerror(errno);
    start({"--memory", "32MiB"});
  }
  void TearDown() override {
    asking_.reset();
    engine_.reset();
    if (is_mounted_) umount2(all_.c_str(), MNT_DETACH);
  }

  static AskOpen shape() {
    AskOpen shape = kShape;
    shape.dimension = kLong;
    return shape;
  }
  Told open() { return asking_->ask_with(kAskOpen, shape()); }
  /// Makes the index, with a hundred rows in a segment.
  void begin() {
    shape_ = shape();
    begin_build();
    for (std::uint64_t vid = 1; vid < kBegun; vid += kBatch) ASSERT_EQ(insert_from(vid).status, 0);
    ASSERT_EQ(build().rows, kBegun - 1);
    rows_index().covers(kBegun);
  }
  AskedIndexOf rows_index() { return index(shape()); }
  /// The row of a VID, always the same.
  static std::vector<float> row(std::uint64_t vid) {
    std::minstd_rand random(static_cast<std::uint32_t>(vid));
    std::uniform_real_distribution<float> number;
    std::vector<float> values(kLong);
    for (float& value : values) value = number(random);
    return values;
  }
  Told insert_from(std::uint64_t first) {
    std::vector<std::uint64_t> vids;
    std::vector<float> floats;
    for (std::uint64_t vid = first; vid < first + kBatch; ++vid) {
      const std::vector<float> values = row(vid);
      vids.push_back(vid);
      floats.insert(floats.end(), values.begin(), values.end());
    }
    return rows_index().insert(vids, std::as_bytes(std::span(floats)));
  }
  /// Inserts until it is refused, and returns the first VID that was; `told` says why.
  std::uint64_t insert_until_refused(std::uint64_t first, Told& told) {
    for (; first < kMostRows; first += kBatch) {
      told = insert_from(first);
      if (told.status != 0) break;
    }
    return first;
  }
  void expect_found(std::uint64_t end) {
    for (std::uint64_t vid = 1; vid < end; vid += 97) {
      const std::vector<float> values = row(vid);
      const std::vector<Row> rows = rows_index().rows(std::as_bytes(std::span(values)), 1, 100);
      ASSERT_EQ(rows.size(), 1u);
      EXPECT_EQ(rows[0].vid, vid);
      EXPECT_NEAR(rows[0].distance, 0, 1e-3);
    }
  }
  /// Takes the last byte of the disk.
  void fill() const {
    std::ofstream file(filler(), std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  fs::path filler() const { return all_ / "filler"; }

 private:
  bool is_mounted_ = false;
};

TEST_F(EngineFullDisk, RefusesRowsWhenMemtablesAreFullAndKeepsWhatItHas) {
  begin();
  fill();
  Told told;
  const std::uint64_t end = insert_until_refused(kBegun, told);
  ASSERT_LT(end, kMostRows) << "nothing was refused";
  EXPECT_EQ(told.status, ASK_DISK_FULL) << told.text();
  const bool says_why = told.text().find("No space left") != std::string::npos ||
                        told.text().find("has 0 free") != std::string::npos;
  EXPECT_TRUE(says_why) << told.text();
  expect_found(end);
  AskOpen other = shape();
  other.index.number = 2;
  other.index.file = 2;
  const Told opened = asking_->ask_with(kAskOpen, other);
  EXPECT_EQ(opened.status, ASK_DISK_FULL) << opened.text();
  expect_found(end);
  // With room it goes on, without a new start.
  fs::remove(filler());
  told = insert_from(end);
  for (int tries = 0; tries < 600 && told.status == ASK_DISK_FULL; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    told = insert_from(end);
  }
  EXPECT_EQ(told.status, 0) << told.text();
  expect_found(end + kBatch);
}

TEST_F(EngineFullDisk, ANewStartLosesNothing) {
  begin();
  fill();
  kill_and_start();
  const Told told = open();
  EXPECT_TRUE(told.status == 0 || told.status == ASK_DISK_FULL) << told.text();
  EXPECT_EQ(engine_->log().find("begins anew"), std::string::npos) << engine_->log();
  fs::remove(filler());
  EXPECT_EQ(open().head<ToldState>().rows, kBegun - 1);
  rows_index().covers(kBegun);
  expect_found(kBegun);
  EXPECT_EQ(insert_from(kBegun).status, 0);
}

}  // namespace
}  // namespace farvec::postgres::tests
