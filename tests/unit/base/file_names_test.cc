#include "base/file_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace farvec {
namespace {

namespace fs = std::filesystem;

/// Works in another folder as long as it lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) { fs::current_path(folder); }
  ~WorkingFolder() { fs::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  const fs::path before_ = fs::current_path();
};

class FileNames : public testing::Test {
 protected:
  FileNames() : real_(fs::canonical(folder_.path())) {
    fs::create_directories(real_ / "deep/set");
    fs::create_directory_symlink(real_ / "deep/set", real_ / "link");
    fs::create_directory_symlink("deep", real_ / "near");
  }

  const tests::TemporaryFolder folder_;
  const fs::path real_;
};

TEST_F(FileNames, EverySpellingOfAFolderIsOneName) {
  const WorkingFolder here(real_);
  for (const char* name :
       {"deep/set", "deep/set/", "deep/set//", "./deep/set", "deep/./set/.", "deep/../deep/set",
        "deep//set", "link", "link/", "link/.", "near/set", "near/set/", "link/../set"}) {
    EXPECT_EQ(settled_path(name), real_ / "deep/set") << name;
  }
  EXPECT_EQ(settled_path("."), real_);
  EXPECT_EQ(settled_path("deep/.."), real_);
  EXPECT_EQ(settled_path("/"), "/");
  EXPECT_EQ(settled_path("/."), "/");
  EXPECT_EQ(settled_path(""), "");
}

TEST_F(FileNames, WhatIsNotThereYetIsNamedByTheFolderThatIs) {
  const WorkingFolder here(real_);
  for (const char* name : {"link/new", "link/new/", "./link/new", "near/set/a/../new/"}) {
    EXPECT_EQ(settled_path(name), real_ / "deep/set/new") << name;
  }
  EXPECT_EQ(settled_path(std::string(5000, 'x')), real_ / std::string(5000, 'x'));
}

TEST_F(FileNames, ALinkKeepsItsOwnName) {
  const WorkingFolder here(real_);
  EXPECT_EQ(settled_name("link"), real_ / "link");
  EXPECT_EQ(settled_name("link/"), real_ / "link");
  EXPECT_EQ(settled_name("near/new"), real_ / "deep/new");
  EXPECT_EQ(settled_name("deep/set/."), real_ / "deep/set");
  EXPECT_EQ(settled_name("deep/set/.."), real_ / "deep");
  EXPECT_EQ(settled_name("/"), "/");
}

TEST(Utf8, IsToldFromOtherBytes) {
  for (const char* text : {"", "a", "\x7f", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x92\xbe",
                           "\xf4\x8f\xbf\xbf", "a\xc3\xa4z"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text : {"\xff", "\x80", "\xc3", "\xc3z", "\xe2\x82", "\xe2\x82z", "\xc0\x80",
                           "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                           "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "a\xfez"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST_F(FileNames, NoFolderToWorkInIsNoFailure) {
  const fs::path gone = real_ / "gone";
  fs::create_directory(gone);
  const WorkingFolder here(gone);
  fs::remove(gone);
  EXPECT_EQ(settled_path("a"), "a");
  EXPECT_EQ(settled_path("/tmp/"), fs::canonical("/tmp"));
}

}  // namespace
}  // namespace farvec
