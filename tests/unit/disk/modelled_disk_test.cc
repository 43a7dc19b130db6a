#include "disk/modelled_disk.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace farvec::disk {
namespace {

constexpr std::uint32_t kPage = 4096;

DiskModel model_of(std::uint32_t dies) {
  DiskModel model;
  model.read_us = 100;
  model.write_us = 10;
  model.sync_us = 7;
  model.dies = dies;
  model.page_bytes = kPage;
  return model;
}

BlockRequest read_of(std::uint64_t page, std::uint32_t bytes = kPage) {
  return {.id = 0, .offset = page * kPage, .memory = nullptr, .bytes = bytes, .file = 0};
}

TEST(ModelledDisk, ADieServesOnePageAfterTheOther) {
  ModelledDisk disk(model_of(1));
  EXPECT_EQ(disk.end_of(1000, read_of(0)), 1100);
  EXPECT_EQ(disk.end_of(1000, read_of(7)), 1200);
  EXPECT_EQ(disk.end_of(1150, read_of(7)), 1300);
  EXPECT_EQ(disk.end_of(2000, read_of(7)), 2100) << "it was idle";
  EXPECT_EQ(disk.end_of(2000, read_of(7, 3 * kPage)), 2400);
  BlockRequest across = read_of(7);
  across.offset += 512;
  EXPECT_EQ(disk.end_of(3000, across), 3200) << "parts of two pages";
}

TEST(ModelledDisk, ReadsOfDifferentDiesEndTogether) {
  ModelledDisk disk(model_of(64));
  std::multiset<double> ends;
  for (std::uint64_t page = 0; page < 64; ++page) ends.insert(disk.end_of(0, read_of(page)));
  // Pages lie at random dies: as many wait as meet another one there.
  EXPECT_GT(ends.count(100), 64 * 0.5);
  EXPECT_LT(ends.count(100), 64 * 0.8);
  EXPECT_LE(*ends.rbegin(), 500);
  ModelledDisk again(model_of(64));
  for (std::uint64_t page = 0; page < 64; ++page) again.end_of(0, read_of(page));
  EXPECT_EQ(again.end_of(0, read_of(3)), disk.end_of(0, read_of(3))) << "it is the same each time";
}

TEST(ModelledDisk, APageHasItsDieWhateverTheTime) {
  ModelledDisk disk(model_of(1000));
  for (double now = 0; now < 5000; now += 10) {
    EXPECT_EQ(disk.end_of(now, read_of(5)), 100 * (now / 10 + 1));
  }
  BlockRequest other = read_of(5);
  other.file = 1;
  EXPECT_EQ(disk.end_of(0, other), 100) << "that of another file lies elsewhere";
}

TEST(ModelledDisk, TheLinkBringsAsMuchAsItCan) {
  DiskModel model = model_of(1000);
  model.bytes_per_us = kPage / 4.0;
  ModelledDisk disk(model);
  EXPECT_EQ(disk.end_of(0, read_of(0)), 104) << "the die, then four microseconds";
  double last = 0;
  for (std::uint64_t page = 1; page < 1000; ++page) last = disk.end_of(0, read_of(page));
  EXPECT_EQ(last, 4000);
}

TEST(ModelledDisk, TheControllerTakesRequestsAtItsRate) {
  DiskModel model = model_of(100'000);
  model.requests_per_us = 0.5;
  ModelledDisk disk(model);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(disk.end_of(0, read_of(static_cast<std::uint64_t>(i) * 1001)), 100 + 2 * i);
  }
  EXPECT_EQ(disk.end_of(1000, read_of(1)), 1100);
}

TEST(ModelledDisk, WhatHasNoRoomWaits) {
  DiskModel model = model_of(100'000);
  model.depth = 4;
  ModelledDisk disk(model);
  std::vector<double> ends;
  for (std::uint64_t i = 0; i < 10; ++i) ends.push_back(disk.end_of(0, read_of(i * 1001)));
  EXPECT_EQ(ends, (std::vector<double>{100, 100, 100, 100, 200, 200, 200, 200, 300, 300}));
  EXPECT_EQ(disk.end_of(250, read_of(99'999)), 350) << "two that ended at 200 have left";
}

TEST(ModelledDisk, OtherCoresTakeTheirShare) {
  DiskModel model = model_of(1);
  model.cores = 4;
  ModelledDisk disk(model);
  EXPECT_EQ(disk.end_of(0, read_of(0)), 100);
  EXPECT_EQ(disk.end_of(0, read_of(0)), 500) << "three others have come between";
  EXPECT_EQ(disk.end_of(10'000, read_of(0)), 10'100);
}

TEST(ModelledDisk, ASyncEndsAfterTheWritesBeforeIt) {
  ModelledDisk disk(model_of(1));
  BlockRequest write = read_of(0);
  write.operation = DiskOperation::write;
  const BlockRequest sync{.id = 0,
                          .offset = 0,
                          .memory = nullptr,
                          .bytes = 0,
                          .file = 0,
                          .operation = DiskOperation::sync};
  EXPECT_EQ(disk.end_of(0, sync), 7);
  EXPECT_EQ(disk.end_of(0, write), 10);
  EXPECT_EQ(disk.end_of(0, write), 20);
  EXPECT_EQ(disk.end_of(5, sync), 27);
  EXPECT_EQ(disk.end_of(100, sync), 107);
}

}  // namespace
}  // namespace farvec::disk
