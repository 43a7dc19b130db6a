#include "layout/collection/coverage_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

class CoverageMarks : public testing::Test {
 protected:
  CoverageMarks() { fs::create_directory(folder_.path() / "collection"); }

  CoverageMark own() const { return mark_of(folder_.path() / "collection", "1-2-3-abc"); }
  std::string bytes() const {
    std::ifstream file(folder_.path() / kCoverageFile, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& bytes) const {
    std::ofstream(folder_.path() / kCoverageFile, std::ios::binary) << bytes;
  }

  tests::TemporaryFolder folder_;
};

TEST_F(CoverageMarks, AreReadAsTheyWereWritten) {
  EXPECT_EQ(read_coverage(folder_.path()), std::nullopt);
  CoverageMark mark = own();
  EXPECT_EQ(mark.covered, 0u);
  EXPECT_NE(mark.inode, 0u);
  write_coverage(folder_.path(), mark);
  EXPECT_EQ(read_coverage(folder_.path()), mark);
  mark.covered = 0x123456789abcdef0;
  write_coverage(folder_.path(), mark);
  EXPECT_EQ(read_coverage(folder_.path()), mark);
  mark.index = std::string(kMostIndexName, 'x');
  write_coverage(folder_.path(), mark);
  EXPECT_EQ(read_coverage(folder_.path()), mark);
}

TEST_F(CoverageMarks, OfACopyAreOthers) {
  fs::create_directory(folder_.path() / "copy");
  const CoverageMark copy = mark_of(folder_.path() / "copy", "1-2-3-abc");
  EXPECT_NE(copy, own());
  EXPECT_THROW(mark_of(folder_.path() / "nowhere", "1"), SystemError);
}

TEST_F(CoverageMarks, EachDamagedByteIsFound) {
  CoverageMark mark = own();
  mark.covered = 77;
  write_coverage(folder_.path(), mark);
  const std::string whole = bytes();
  ASSERT_EQ(whole.size(), 120u);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(damaged);
    EXPECT_THROW(read_coverage(folder_.path()), Error) << i;
  }
  for (const std::size_t size : {0, 1, 119}) {
    write(whole.substr(0, size));
    EXPECT_THROW(read_coverage(folder_.path()), Error) << size;
  }
  write(whole + "x");
  EXPECT_THROW(read_coverage(folder_.path()), Error);
}

}  // namespace
}  // namespace farvec::layout
