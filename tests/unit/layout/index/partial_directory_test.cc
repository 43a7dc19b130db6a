#include "layout/index/partial_directory.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "layout/index/directory_lock.h"
#include "tests/unit/layout/index/index_fixture.h"
#include "tests/unit/layout/traced_child.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::Exchange;
using tests::TracedChild;

constexpr std::size_t kOld = 100;
constexpr std::size_t kNew = 50;
constexpr int kMostCalls = 1000;

#ifdef SYS_rename
constexpr std::array kRenames{SYS_rename, SYS_renameat, SYS_renameat2};
constexpr std::array kRemovals{SYS_unlink, SYS_unlinkat};
#else
constexpr std::array kRenames{SYS_renameat, SYS_renameat2};
constexpr std::array kRemovals{SYS_unlinkat};
#endif

bool is_one_of(long call, const auto& calls) {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

class PartialDirectoryTest : public testing::TestWithParam<Exchange> {
 protected:
  void replace(std::size_t count = kNew) const {
    RandomIndex index(count);
    write_index(directory_, index.manifest(), index.contents(),
                {.overwrite = true, .threads = 1, .quiet = true});
  }
  /// Throws unless there is a whole index.
  std::size_t count() const {
    const auto index = IndexDirectory::open(directory_);
    index.verify({.threads = 1, .quiet = true});
    return index.manifest().count;
  }
  /// The names in a folder, in order.
  static std::vector<std::string> names(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<std::string> files_of_index() const {
    std::vector<std::string> files{kManifestFile};
    const Manifest manifest = IndexDirectory::open(directory_).manifest();
    for (const RegionEntry& region : manifest.regions) files.push_back(region.file);
    std::sort(files.begin(), files.end());
    return files;
  }

  TemporaryFolder folder_;
  const fs::path directory_ = folder_.path() / "index";
};

/// At each kill the old or the new index is there, never older again, and the next run cleans up.
TEST_P(PartialDirectoryTest, AKilledWriterLeavesTheOldOrTheNewIndex) {
  std::size_t before = kOld;
  bool ended = false;
  for (int calls = 1; !ended && calls < kMostCalls; ++calls) {
    fs::remove_all(directory_);
    RandomIndex(kOld).write(directory_);
    {
      TracedChild child([&] { replace(); }, GetParam());
      for (int i = 0; i < calls && !ended; ++i) ended = !child.next();
    }
    ASSERT_NO_THROW(count()) << "killed before call " << calls;
    ASSERT_THAT(count(), AnyOf(before, kNew)) << "killed before call " << calls;
    before = count();
    TracedChild next([&] { replace(70); }, GetParam());
    ASSERT_EQ(next.finish(), 0) << "after a kill before call " << calls;
    ASSERT_EQ(count(), 70u);
    ASSERT_THAT(names(folder_.path()), ElementsAre("index"));
    ASSERT_EQ(names(directory_), files_of_index());
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(before, kNew) << "the last one was not killed";
}

/// What is removed is not needed after a loss of power: the names of the new index are on the disk.
TEST_P(PartialDirectoryTest, SyncsTheFolderBeforeTheOldIndexIsRemoved) {
  RandomIndex(kOld).write(directory_);
  TracedChild child([&] { replace(); }, GetParam());
  bool synced = false;
  int removed = 0;
  while (child.next()) {
    if (is_one_of(child.number(), kRenames)) synced = false;
    if (child.number() == SYS_fsync) {
      const fs::path file = child.file_of_descriptor();
      synced = synced || file == folder_.path() || file == directory_;
    }
    if (!is_one_of(child.number(), kRemovals)) continue;
    EXPECT_TRUE(synced);
    ++removed;
  }
  EXPECT_EQ(child.finish(), 0);
  EXPECT_GE(removed, 3);
  EXPECT_EQ(count(), kNew);
}

TEST_P(PartialDirectoryTest, ALivingWriterIsLeftAlone) {
  RandomIndex(kOld).write(directory_);
  std::vector<std::string> refusals;
  TracedChild child([&] { replace(); }, GetParam());
  bool replacing = false;
  while (child.next()) {
    // Its own partial directory is there from the third call on.
    if (!fs::exists(directory_.string() + ".partial")) continue;
    replacing = true;
    EXPECT_THAT(error_of([&] { replace(70); }), HasSubstr("being written by another process"));
    EXPECT_THAT(error_of([&] { DirectoryLock lock(directory_); }),
                HasSubstr("being written by another process"));
  }
  EXPECT_TRUE(replacing);
  EXPECT_EQ(child.finish(), 0);
  EXPECT_EQ(count(), kNew);
}

INSTANTIATE_TEST_SUITE_P(Exchange, PartialDirectoryTest,
                         testing::Values(Exchange::works, Exchange::missing),
                         [](const auto& exchange) {
                           return exchange.param == Exchange::works ? "works" : "missing";
                         });

TEST_F(PartialDirectoryTest, WithoutExchangeForeignFilesStayAndNamesChange) {
  RandomIndex(kOld).write(directory_);
  std::ofstream(directory_ / "notes.txt") << "mine";
  std::ofstream(directory_ / "vectors.bin") << "mine, too";
  for (const std::size_t size : {50, 60, 70}) {
    TracedChild child([&] { replace(size); }, Exchange::missing);
    ASSERT_EQ(child.finish(), 0);
    EXPECT_EQ(count(), size);
    EXPECT_EQ(names(directory_).size(), files_of_index().size() + 2);
  }
  EXPECT_TRUE(fs::exists(directory_ / "vectors.bin"));
}

TEST_F(PartialDirectoryTest, ForeignFilesStayWhereFoldersAreExchanged) {
  RandomIndex(kOld).write(directory_);
  std::ofstream(directory_ / "notes.txt") << "mine";
  fs::create_directories(directory_ / "drafts/old");
  replace();
  EXPECT_EQ(count(), kNew);
  EXPECT_EQ(fs::file_size(directory_ / "notes.txt"), 4u);
  EXPECT_TRUE(fs::is_directory(directory_ / "drafts/old"));
  EXPECT_THAT(names(folder_.path()), ElementsAre("index"));
}

TEST_F(PartialDirectoryTest, AForeignFolderOfItsNameIsARefusal) {
  const fs::path partial = directory_.string() + ".partial";
  for (const char* name : {"note", "records.csr", "manifest.json", "ids.bin"}) {
    fs::create_directories(partial);
    std::ofstream(partial / name) << "mine, and nobody else's";
    EXPECT_THAT(error_of([&] { replace(); }), AllOf(HasSubstr(name), HasSubstr("not farvec's")));
    EXPECT_THAT(names(partial), ElementsAre(name));
    fs::remove_all(partial);
  }
}

TEST_F(PartialDirectoryTest, AManifestOfSomethingElseMakesNoIndex) {
  fs::create_directories(directory_);
  std::ofstream(directory_ / kManifestFile) << R"({"name": "my extension", "version": 2})";
  EXPECT_THAT(error_of([&] { replace(); }), HasSubstr("is not an index"));
  EXPECT_THAT(names(directory_), ElementsAre(kManifestFile));
}

TEST_F(PartialDirectoryTest, EverySpellingOfANameIsTheSameIndex) {
  const fs::path before = fs::current_path();
  for (const char* name : {"index/", "./index", "index/.", "../x/index", "index"}) {
    fs::create_directories(folder_.path() / "x");
    fs::current_path(folder_.path() / "x");
    RandomIndex index(kNew);
    write_index(name, index.manifest(), index.contents(),
                {.overwrite = true, .threads = 1, .quiet = true});
    const IndexDirectory opened = IndexDirectory::open(name);
    fs::current_path(before);
    EXPECT_NO_THROW(opened.verify({.threads = 1, .quiet = true})) << name;
    EXPECT_EQ(opened.path(), fs::canonical(folder_.path()) / "x/index") << name;
    EXPECT_THAT(names(folder_.path() / "x"), ElementsAre("index")) << name;
  }
}

TEST_F(PartialDirectoryTest, TheOldIndexMayBeRemovedMeanwhile) {
  RandomIndex(kOld).write(directory_);
  Manifest manifest = IndexDirectory::open(directory_).manifest();
  PartialDirectory partial(directory_, true);
  fs::copy(directory_, partial.path());
  fs::remove_all(directory_);
  partial.publish(manifest);
  EXPECT_EQ(count(), kOld);
  EXPECT_THAT(names(folder_.path()), ElementsAre("index"));
}

}  // namespace
}  // namespace farvec::layout
