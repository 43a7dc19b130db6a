#include "measure/bench/test_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::measure {
namespace {

TEST(TestFile, IsFullOfRandomBytesAndHasNoName) {
  tests::TemporaryFolder folder;
  const std::size_t bytes = (5u << 20) + 13;
  const TestFile file(folder.path(), bytes);
  EXPECT_EQ(folder.entries(), 0u);
  EXPECT_EQ(std::filesystem::file_size(file.path()), bytes);
  std::ifstream in(file.path(), std::ios::binary);
  std::set<std::string> blocks;
  std::string block(4096, '\0');
  while (in.read(block.data(), 4096)) blocks.insert(block);
  EXPECT_EQ(blocks.size(), bytes / 4096);
}

TEST(TestFile, NamesWhatCannotBeMade) {
  tests::TemporaryFolder folder;
  EXPECT_THROW(TestFile(folder.file("none"), 4096), SystemError);
  EXPECT_THROW(TestFile(folder.path(), std::uint64_t{1} << 60), Error);
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace farvec::measure
