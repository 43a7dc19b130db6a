#include "postgres/engine/tablespaces.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/status_error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::postgres {
namespace {

namespace fs = std::filesystem;

constexpr IndexName kUsual{.number = 7, .tablespace = 1663, .database = 5, .file = 16'400};
constexpr IndexName kInTablespace{.number = 8, .tablespace = 16'500, .database = 5, .file = 16'401};

class TablespacesTest : public testing::Test {
 protected:
  TablespacesTest() {
    fs::create_directories(links_);
    fs::create_directories(disk_);
    fs::create_directory_symlink(disk_, links_ / "16500");
  }
  TablespaceOptions options() const {
    return {.own = folder_.path() / "own", .links = links_, .within = "farvec_of_tests"};
  }
  static std::vector<IndexName> names(const Tablespaces& all) {
    std::vector<IndexName> found;
    for (const IndexFolder& index : all.indexes()) {
      EXPECT_EQ(index.path, all.folder_of(index.name));
      found.push_back(index.name);
    }
    return found;
  }

  const farvec::tests::TemporaryFolder folder_;
  const fs::path links_ = folder_.path() / "pg_tblspc";
  const fs::path disk_ = folder_.path() / "disk";
  const fs::path around_ = disk_ / "farvec_of_tests";
};

TEST_F(TablespacesTest, IndexesLieWithinTheirTablespace) {
  Tablespaces all(options());
  EXPECT_EQ(all.folder_of(kUsual).parent_path(), options().own);
  EXPECT_EQ(all.folder_of(kInTablespace),
            links_ / "16500/farvec_of_tests" / to_string(kInTablespace));
  EXPECT_TRUE(names(all).empty());
  for (const IndexName& name : {kInTablespace, kUsual}) {
    all.enter(name);
    all.enter(name);
    fs::create_directory(all.folder_of(name));
  }
  fs::create_directory(around_ / "something");
  EXPECT_EQ(names(all), (std::vector{kUsual, kInTablespace}));
  all.leave(kInTablespace);
  EXPECT_TRUE(fs::exists(around_)) << "something is left there";
  fs::remove_all(around_ / "something");
  fs::remove_all(all.folder_of(kInTablespace));
  all.leave(kInTablespace);
  EXPECT_TRUE(fs::is_empty(disk_));
  all.leave(kUsual);
  EXPECT_EQ(names(all), std::vector{kUsual});
  // It may be used again.
  all.enter(kInTablespace);
  EXPECT_TRUE(fs::exists(around_));
}

TEST_F(TablespacesTest, WithoutTablespacesAllLieInTheOwnFolder) {
  Tablespaces all({.own = folder_.path() / "own"});
  all.enter(kInTablespace);
  fs::create_directory(all.folder_of(kInTablespace));
  EXPECT_EQ(all.folder_of(kInTablespace).parent_path(), options().own);
  EXPECT_EQ(names(all), std::vector{kInTablespace});
}

TEST_F(TablespacesTest, ATablespaceThatIsNotThereIsNotMade) {
  fs::create_directory_symlink(folder_.path() / "nowhere", links_ / "16501");
  std::ofstream(links_ / "16502") << "a file";
  Tablespaces all(options());
  for (const std::uint32_t number : {16'501u, 16'502u, 16'503u}) {
    IndexName name = kInTablespace;
    name.tablespace = number;
    try {
      all.enter(name);
      ADD_FAILURE() << number;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.code, StatusCode::failed_precondition) << error.what();
    }
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "nowhere"));
  EXPECT_FALSE(fs::exists(links_ / "16503"));
  EXPECT_TRUE(names(all).empty());
}

TEST_F(TablespacesTest, AnotherEngineIsKeptOut) {
  Tablespaces first(options());
  first.enter(kInTablespace);
  EXPECT_THROW(Tablespaces{options()}, Error);
  TablespaceOptions other = options();
  other.own = folder_.path() / "other";
  Tablespaces second(other);
  try {
    second.enter(kInTablespace);
    ADD_FAILURE();
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code, StatusCode::unavailable) << error.what();
  }
  first.leave(kInTablespace);
  second.enter(kInTablespace);
  // The folder was removed by someone else.
  fs::remove_all(around_);
  second.enter(kInTablespace);
  EXPECT_TRUE(fs::exists(around_));
}

TEST_F(TablespacesTest, ATablespaceThatIsGoneIsLeft) {
  Tablespaces all(options());
  all.enter(kInTablespace);
  fs::create_directory(all.folder_of(kInTablespace));
  std::ofstream(disk_ / "other") << "stays";
  fs::rename(disk_, folder_.path() / "away");  // a disk that is not mounted now
  all.forget_gone();
  EXPECT_FALSE(all.is_gone(kInTablespace));
  fs::rename(folder_.path() / "away", disk_);
  all.forget_gone();
  EXPECT_EQ(names(all), std::vector{kInTablespace});
  fs::remove(links_ / "16500");
  EXPECT_TRUE(all.is_gone(kInTablespace));
  EXPECT_FALSE(all.is_gone(kUsual));
  EXPECT_TRUE(names(all).empty());
  all.forget_gone();
  EXPECT_FALSE(fs::exists(around_));
  EXPECT_TRUE(fs::exists(disk_ / "other"));
  EXPECT_TRUE(fs::exists(options().own));
}

TEST_F(TablespacesTest, WhatDoesNotBelongThereIsRemoved) {
  IndexName former = kInTablespace;
  former.tablespace = 16'499;
  fs::create_directories(around_ / to_string(former) / "collection");
  fs::create_directories(around_ / ("leaving-" + to_string(kInTablespace)));
  fs::create_directories(around_ / to_string(kInTablespace));
  fs::create_directories(options().own / to_string(kInTablespace));
  fs::create_directories(options().own / to_string(kUsual));
  fs::create_directories(options().own / "something");
  Tablespaces all(options());
  EXPECT_FALSE(fs::exists(options().own / to_string(kInTablespace)));
  EXPECT_TRUE(fs::exists(options().own / to_string(kUsual)));
  EXPECT_TRUE(fs::exists(options().own / "something"));
  EXPECT_EQ(names(all), (std::vector{kUsual, kInTablespace}));
  all.enter(kInTablespace);
  EXPECT_EQ(names(all), (std::vector{kUsual, kInTablespace}));
  EXPECT_EQ(std::distance(fs::directory_iterator(around_), {}), 1);
}

}  // namespace
}  // namespace farvec::postgres
