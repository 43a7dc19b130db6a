#include "layout/index/index_removal.h"

#include <gmock/gmock.h>

#include <fstream>

#include "layout/index/index_files.h"
#include "tests/unit/layout/index/index_fixture.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

class IndexRemovalTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }

  TemporaryFolder folder_;
  const fs::path directory_ = folder_.path() / "index";
};

TEST_F(IndexRemovalTest, TakesAnIndexAndItsFolder) {
  RandomIndex(30).write(directory_);
  put("regrouped", std::string(kRegroupedWords) + "0123456789abcdef\n");
  remove_index_with_warning(directory_);
  EXPECT_FALSE(fs::exists(directory_));
  remove_index_with_warning(directory_);
  EXPECT_THAT(remove_index_files(directory_), IsEmpty());
}

TEST_F(IndexRemovalTest, TakesWhatAKilledWriterLeft) {
  fs::create_directories(directory_);
  put("records.csr", "");
  put("codes.bin", std::string(9000, '\0'));
  put("manifest.json.0123456789abcdef.partial", "");
  put("ids.bin.0123456789abcdef.partial", std::string(3, '\0'));
  const std::vector<std::string> others = remove_index_files(directory_);
  for (const std::string& name : others) EXPECT_FALSE(is_region_name(name)) << name;
  EXPECT_FALSE(fs::exists(directory_ / "manifest.json.0123456789abcdef.partial"));
  EXPECT_FALSE(fs::exists(directory_ / "ids.bin.0123456789abcdef.partial"));
}

TEST_F(IndexRemovalTest, LeavesWhatOnlyHasTheName) {
  RandomIndex(30).write(directory_);
  const std::string region = IndexDirectory::open(directory_).manifest().region(0).file;
  const std::string second = IndexDirectory::open(directory_).manifest().region(1).file;
  put(region, "notes of mine");
  fs::remove(directory_ / second);
  fs::create_directory(directory_ / second);
  put("manifest.json", R"({"name": "something else"})");
  put("ids.bin", "1 2 3 4 5 6 7 8 9");
  put("regrouped", "by me");
  put("manifest.json.abc.partial", "");
  fs::create_symlink("/dev/null", directory_ / "link");
  std::vector<std::string> expected{
      "ids.bin", "link", "manifest.json", "manifest.json.abc.partial", "regrouped", region, second};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(remove_index_files(directory_), expected);
  remove_index_with_warning(directory_);
  EXPECT_EQ(remove_index_files(directory_), expected);
}

TEST_F(IndexRemovalTest, FollowsNoLink) {
  RandomIndex(30).write(directory_);
  const fs::path link = folder_.path() / "link";
  fs::create_directory_symlink(directory_, link);
  remove_index_with_warning(link);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_NO_THROW(IndexDirectory::open(directory_).verify({.threads = 1, .quiet = true}));
}

}  // namespace
}  // namespace farvec::layout
