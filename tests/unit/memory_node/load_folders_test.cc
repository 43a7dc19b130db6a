#include "memory_node/load_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::memory_node {
namespace {

namespace fs = std::filesystem;

class LoadFoldersTest : public testing::Test {
 protected:
  LoadFoldersTest() {
    for (const char* name : {"a", "a/b", "ab", "c"}) fs::create_directory(path(name));
  }
  fs::path path(const std::string& name) const { return fs::canonical(folder_.path()) / name; }

  tests::TemporaryFolder folder_;
};

TEST_F(LoadFoldersTest, FindsWhatLiesBelowOneOfThem) {
  const LoadFolders folders({path("a"), path("c")});
  EXPECT_EQ(folders.find(path("a").string()), path("a"));
  EXPECT_EQ(folders.find(path("a/b/new").string()), path("a/b/new"));
  EXPECT_EQ(folders.find(path("c/./x/../y").string()), path("c/y"));
  EXPECT_FALSE(folders.find(path("ab").string())) << "its name alone begins like a folder's";
  EXPECT_FALSE(folders.find(path("a/../ab").string()));
  EXPECT_FALSE(folders.find(folder_.path().string()));
  EXPECT_FALSE(folders.find("/"));
  EXPECT_FALSE(LoadFolders().find(path("a").string()));
}

TEST_F(LoadFoldersTest, FollowsLinksBeforeItLooks) {
  fs::create_directory_symlink(path("ab"), path("a/out"));
  fs::create_directory_symlink(path("a/b"), path("in"));
  fs::create_directory_symlink(path("a"), path("folder"));
  fs::create_symlink(path("a/loop"), path("a/loop"));
  const LoadFolders folders({path("folder").string() + "/"});
  EXPECT_FALSE(folders.find(path("a/out/x").string()));
  EXPECT_FALSE(folders.find(path("a/loop").string()));
  EXPECT_EQ(folders.find(path("in/x").string()), path("a/b/x"));
}

TEST_F(LoadFoldersTest, TakesADirectoryWhoseLinksStayBelowThem) {
  const LoadFolders folders({path("a")});
  EXPECT_EQ(folders.find_directory(path("a/b").string()), path("a/b"));
  EXPECT_EQ(folders.find_directory(path("a/absent").string()), path("a/absent"));
  fs::create_directory_symlink(path("a"), path("a/b/in"));
  EXPECT_EQ(folders.find_directory(path("a/b").string()), path("a/b"));
  EXPECT_EQ(folders.find_directory(path("a/b/in/b").string()), path("a/b"));
  fs::create_symlink(path("c"), path("a/b/out"));
  EXPECT_FALSE(folders.find_directory(path("a/b").string()));
  EXPECT_FALSE(folders.find_directory(path("a/b/out").string()));
}

TEST_F(LoadFoldersTest, IsAroundAnIndex) {
  EXPECT_EQ(LoadFolders::around(path("a/b")).find(path("a/other").string()), path("a/other"));
  EXPECT_FALSE(LoadFolders::around(path("a/b")).find(path("c").string()));
  EXPECT_FALSE(LoadFolders::around("/tmp").find("/etc")) << "not all of the machine";
  EXPECT_FALSE(LoadFolders::around(path("absent")).find(path("a").string()));
  EXPECT_FALSE(LoadFolders::around("").find(path("a").string()));
  EXPECT_THAT(tests::message_of([&] { LoadFolders({path("absent")}); }),
              testing::HasSubstr("--load-from"));
}

}  // namespace
}  // namespace farvec::memory_node
