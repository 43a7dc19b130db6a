#include "layout/index/index_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "layout/index/partial_directory.h"
#include "layout/index/region_file.h"
#include "tests/unit/layout/index/index_fixture.h"
#include "tests/unit/layout/traced_child.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class IndexWriterTest : public testing::Test {
 protected:
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TemporaryFolder folder_;
  fs::path directory_ = folder_.path() / "index";
};

TEST_F(IndexWriterTest, LeavesOnlyTheIndex) {
  RandomIndex().write(directory_);
  EXPECT_EQ(entries(), 1u);
  EXPECT_TRUE(fs::exists(directory_ / "manifest.json"));
  EXPECT_TRUE(fs::exists(directory_ / "records.csr"));
  EXPECT_TRUE(fs::exists(directory_ / "codes.bin"));
  EXPECT_TRUE(fs::exists(directory_ / "offsets.bin"));
}

TEST_F(IndexWriterTest, RefusesToReplaceUnlessAsked) {
  RandomIndex(100).write(directory_);
  EXPECT_THAT(error_of([&] { RandomIndex(50).write(directory_); }),
              AllOf(HasSubstr(directory_.string()), HasSubstr("exists: ")));
  EXPECT_EQ(IndexDirectory::open(directory_).manifest().count, 100u);
  RandomIndex(50).write(directory_, true);
  EXPECT_EQ(IndexDirectory::open(directory_).manifest().count, 50u);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(IndexWriterTest, NeverReplacesWhatIsNoIndex) {
  fs::create_directory(directory_);
  std::ofstream(directory_ / "thesis.tex") << "x";
  EXPECT_THAT(error_of([&] { RandomIndex().write(directory_, true); }),
              HasSubstr("is not an index and will not be overwritten"));
  EXPECT_TRUE(fs::exists(directory_ / "thesis.tex"));
  const fs::path file = folder_.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_THROW(RandomIndex().write(file, true), Error);
  EXPECT_EQ(fs::file_size(file), 1u);
}

TEST_F(IndexWriterTest, ReplacesWhatAKilledWriterLeft) {
  const fs::path partial = directory_.string() + ".partial";
  fs::create_directory(partial);
  std::ofstream(partial / "records.csr") << std::string(kRegionHeaderBytes, '\0') << "half of it";
  RandomIndex().write(directory_);
  IndexDirectory::open(directory_).verify({.threads = 1, .quiet = true, .on_chunk = {}});
  EXPECT_EQ(entries(), 1u);
}

TEST_F(IndexWriterTest, LeavesAnotherWriterAlone) {
  const PartialDirectory other(directory_, false);
  std::ofstream(other.path() / "mine") << "x";
  EXPECT_THAT(error_of([&] { RandomIndex().write(directory_); }),
              HasSubstr("being written by another process"));
  EXPECT_TRUE(fs::exists(other.path() / "mine"));
}

TEST_F(IndexWriterTest, RefusesAFolderThatIsNotThere) {
  EXPECT_THAT(error_of([&] { RandomIndex().write(folder_.path() / "no" / "index"); }),
              HasSubstr((folder_.path() / "no").string()));
}

TEST_F(IndexWriterTest, RemovesEverythingWhenTheDiskFillsUp) {
  RandomIndex index(2000);
  const std::uint64_t needed =
      RandomIndex(2000).write(folder_.path() / "probe").region(0).file_bytes();
  fs::remove_all(folder_.path() / "probe");
  // From the first byte to the last of the largest file.
  for (const rlim_t limit : {rlim_t{0}, rlim_t{5000}, rlim_t{40'000}, rlim_t{needed - 1}}) {
    std::string error;
    {
      const FileSizeLimit full(limit);
      error = error_of([&] { index.write(directory_); });
    }
    EXPECT_THAT(error, AllOf(HasSubstr("needs"), HasSubstr("bytes"), HasSubstr("free"),
                             HasSubstr(directory_.string())));
    EXPECT_EQ(entries(), 0u) << limit;
  }
  index.write(directory_);
}

TEST_F(IndexWriterTest, KeepsTheOldIndexWhenTheDiskFillsUp) {
  RandomIndex(100).write(directory_);
  RandomIndex index(2000);
  {
    const FileSizeLimit full(30'000);
    EXPECT_THROW(index.write(directory_, true), Error);
  }
  EXPECT_EQ(IndexDirectory::open(directory_).manifest().count, 100u);
  EXPECT_EQ(entries(), 1u);
}

class SmallDiskTest : public IndexWriterTest {
 protected:
  void SetUp() override {
    disk_ = folder_.path() / "disk";
    fs::create_directory(disk_);
    if (mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=256k") != 0) {
      GTEST_SKIP() << "mounting a small disk needs root";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) umount(disk_.c_str());
  }

  fs::path disk_;
  bool mounted_ = false;
};

TEST_F(SmallDiskTest, SaysBeforehandHowMuchIsMissing) {
  const std::string error = error_of([&] { RandomIndex(20'000).write(disk_ / "index"); });
  EXPECT_THAT(error, AllOf(HasSubstr("needs"), HasSubstr("262144 free")));
  EXPECT_TRUE(fs::is_empty(disk_));
}

TEST_F(SmallDiskTest, ReportsTheWriteThatDidNotFit) {
  const std::string error = error_of([&] {
    RegionFile file(disk_, RegionKind::codes);
    file.append(std::vector<std::byte>(1 << 20));
    file.publish();
  });
  EXPECT_THAT(error, AllOf(HasSubstr("codes.bin"), HasSubstr("No space left")));
}

TEST_F(IndexWriterTest, ARegionIsNotPublishedBeforeItsHeader) {
  {
    RegionFile file(folder_.path(), RegionKind::codes);
    file.append(std::vector<std::byte>(3 * kChunkBytes / 2, std::byte{1}));
  }
  std::ifstream stream(folder_.path() / "codes.bin", std::ios::binary);
  RegionHeaderBlock block{};
  stream.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(block.size()));
  EXPECT_THAT(error_of([&] { (void)decode_region_header(block, "codes.bin"); }),
              HasSubstr("never published"));
}

/// A manifest that places on `nodes`.
std::optional<Placement> on_nodes(const IndexDirectory& index, std::uint32_t nodes) {
  PlacementOptions options;
  options.nodes = nodes;
  options.extent_bytes = 4096;
  return make_placement(index.load_locator({.quiet = true}), index.manifest().region_bytes(),
                        options);
}

TEST_F(IndexWriterTest, AKilledPlaceLeavesTheOldOrTheNewPlacement) {
  constexpr int kMostCalls = 100;
  const auto place = [&](std::uint32_t nodes) {
    write_placement(directory_, [&](const auto& index) { return on_nodes(index, nodes); });
  };
  const auto nodes = [&] { return IndexDirectory::open(directory_).manifest().memory_nodes(); };
  RandomIndex().write(directory_);
  bool ended = false;
  for (int calls = 1; !ended && calls < kMostCalls; ++calls) {
    place(2);
    {
      tests::TracedChild child([&] { place(3); });
      for (int i = 0; i < calls && !ended; ++i) ended = !child.next();
    }
    const std::uint32_t after = nodes();
    ASSERT_TRUE(after == 3 || (after == 2 && !ended)) << "killed before call " << calls;
    place(4);
    ASSERT_EQ(nodes(), 4u);
    ASSERT_EQ(std::distance(fs::directory_iterator(directory_), {}), 4) << "three regions";
  }
  EXPECT_TRUE(ended);
}

TEST_F(IndexWriterTest, TwoPlacesDoNotMix) {
  const auto place = [&](std::uint32_t nodes) {
    write_placement(directory_, [&](const auto& index) { return on_nodes(index, nodes); });
  };
  RandomIndex().write(directory_);
  tests::TracedChild child([&] { place(3); });
  int stops = 0;
  for (; child.next(); ++stops) {
    EXPECT_THAT(error_of([&] { place(2); }), HasSubstr("being written by another process"));
  }
  EXPECT_GE(stops, 3);
  EXPECT_EQ(child.finish(), 0);
  EXPECT_EQ(IndexDirectory::open(directory_).manifest().memory_nodes(), 3u);
}

TEST_F(IndexWriterTest, ALinkToAnIndexCanBePlaced) {
  RandomIndex().write(directory_);
  fs::create_directory_symlink(directory_, folder_.path() / "link");
  write_placement(folder_.path() / "link", [](const auto& index) { return on_nodes(index, 2); });
  EXPECT_EQ(IndexDirectory::open(directory_).manifest().memory_nodes(), 2u);
}

}  // namespace
}  // namespace farvec::layout
