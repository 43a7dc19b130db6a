#include "measure/advise/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::measure {
namespace {

namespace fs = std::filesystem;

class ScratchFolderTest : public testing::Test {
 protected:
  const tests::TemporaryFolder parent_;
};

TEST_F(ScratchFolderTest, GoesWithAllThatIsInIt) {
  {
    const ScratchFolder one(parent_.path(), "scratch");
    const ScratchFolder other(parent_.path(), "scratch");
    EXPECT_NE(one.path(), other.path());
    EXPECT_EQ(one.path().parent_path(), parent_.path());
    fs::create_directory(one.path() / "index");
    std::ofstream(one.path() / "index" / "records") << "bytes";
    EXPECT_TRUE(fs::exists(one.path() / "index" / "records"));
  }
  EXPECT_TRUE(fs::is_empty(parent_.path()));
}

TEST_F(ScratchFolderTest, IsRemovedOnce) {
  const ScratchFolder folder(parent_.path(), "scratch");
  std::ofstream open(folder.path() / "records");
  folder.remove();
  EXPECT_TRUE(fs::is_empty(parent_.path()));
  folder.remove();
  EXPECT_TRUE(fs::is_empty(parent_.path()));
}

TEST_F(ScratchFolderTest, NamesTheOptionWhereItCannotBe) {
  try {
    const ScratchFolder folder(parent_.path() / "nowhere", "--scratch");
    FAIL() << "made " << folder.path();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("choose another place with --scratch"));
  }
  EXPECT_TRUE(fs::is_empty(parent_.path()));
}

}  // namespace
}  // namespace farvec::measure
