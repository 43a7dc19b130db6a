#include "disk/disk_progress.h"

#include <gtest/gtest.h>

namespace farvec::disk {
namespace {

TEST(DiskProgress, EndsWhenAllHasArrived) {
  DiskProgress read(4096, 4096);
  EXPECT_FALSE(read.take(4096, 512));
  EXPECT_EQ(read.status(), StatusCode::ok);
  EXPECT_EQ(read.arrived(), 4096u);
}

TEST(DiskProgress, GoesOnWhereAShortReadStopped) {
  DiskProgress read(4096, 4096);
  EXPECT_TRUE(read.take(512, 512));
  EXPECT_EQ(read.done(), 512u);
  EXPECT_EQ(read.rest(), 3584u);
  EXPECT_TRUE(read.take(1024, 512));
  EXPECT_FALSE(read.take(2560, 512));
  EXPECT_EQ(read.status(), StatusCode::ok);
}

TEST(DiskProgress, TheEndOfTheFileIsNoError) {
  DiskProgress read(4096, 1000);
  EXPECT_TRUE(read.take(512, 512));
  EXPECT_FALSE(read.take(488, 512));
  EXPECT_EQ(read.status(), StatusCode::ok);
  EXPECT_EQ(read.arrived(), 1000u);
  DiskProgress grown(4096, 1000);  // the file became longer meanwhile
  EXPECT_FALSE(grown.take(4096, 512));
  EXPECT_EQ(grown.arrived(), 1000u);
}

TEST(DiskProgress, AFileThatBecameShorterIsDataLoss) {
  DiskProgress empty(4096, 4096);
  EXPECT_FALSE(empty.take(0, 512));
  EXPECT_EQ(empty.status(), StatusCode::data_loss);
  DiskProgress part(4096, 4096);
  EXPECT_TRUE(part.take(1024, 512));
  EXPECT_FALSE(part.take(100, 512));
  EXPECT_EQ(part.status(), StatusCode::data_loss);
  EXPECT_EQ(part.arrived(), 1124u);
  EXPECT_EQ(part.error(), 0);
}

TEST(DiskProgress, RetriesAreCountedFromTheLastProgress) {
  DiskProgress read(4096, 4096);
  for (int part = 0; part < 8; ++part) {
    for (int retry = 0; retry < 8; ++retry) ASSERT_TRUE(read.take(-EAGAIN, 512));
    EXPECT_EQ(read.take(512, 512), part < 7);
  }
  EXPECT_EQ(read.status(), StatusCode::ok);
}

TEST(DiskProgress, ErrorsKeepTheirNumber) {
  const std::pair<int, StatusCode> cases[] = {{EIO, StatusCode::data_loss},
                                              {ECANCELED, StatusCode::cancelled},
                                              {ENODEV, StatusCode::unavailable},
                                              {ENOMEM, StatusCode::resource_exhausted},
                                              {EINVAL, StatusCode::invalid_argument}};
  for (const auto& [error, status] : cases) {
    DiskProgress read(512, 512);
    EXPECT_FALSE(read.take(-error, 512));
    EXPECT_EQ(read.error(), error);
    EXPECT_EQ(read.status(), status);
  }
}

TEST(DiskProgress, RetriesAreBounded) {
  DiskProgress read(512, 512);
  int submissions = 1;
  while (read.take(-EAGAIN, 512)) ++submissions;
  EXPECT_EQ(submissions, 9);
  EXPECT_EQ(read.status(), StatusCode::resource_exhausted);
}

}  // namespace
}  // namespace farvec::disk
