// The folder of a log.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/temporary_folder.h"

namespace farvec::wal {

class SegmentLogTest : public ::testing::Test {
 protected:
  farvec::tests::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "log";
};

}  // namespace farvec::wal
