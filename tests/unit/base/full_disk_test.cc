#include "base/full_disk.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace farvec {
namespace {

TEST(FullDisk, IsToldApartFromOtherErrors) {
  for (const int errno_value : {ENOSPC, EDQUOT, EFBIG}) {
    EXPECT_TRUE(is_full_disk(errno_value));
    EXPECT_TRUE(is_full_disk(SystemError(errno_value, "writing")));
  }
  EXPECT_FALSE(is_full_disk(EIO));
  EXPECT_FALSE(is_full_disk(SystemError(EIO, "writing")));
  EXPECT_FALSE(is_full_disk(Error("No space left on device")));
  const FullDisk error("'{}' has {} free", "/a", 0);
  EXPECT_TRUE(is_full_disk(error));
  EXPECT_STREQ(error.what(), "'/a' has 0 free");
}

}  // namespace
}  // namespace farvec
