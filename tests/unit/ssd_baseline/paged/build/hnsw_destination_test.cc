#include "ssd_baseline/paged/build/hnsw_destination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "layout/index/directory_lock.h"
#include "ssd_baseline/paged/store/page_store.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::paged {
namespace {

namespace fs = std::filesystem;
using farvec::tests::message_of;
using ::testing::HasSubstr;

class HnswDestinationTest : public ::testing::Test {
 protected:
  /// A store that can be told from others.
  void make(const fs::path& folder, const std::string& name) {
    PageStoreOptions options;
    options.folder = folder;
    options.buffer_bytes = 64 * options.page_bytes;
    (void)PageStore::create(options);
    std::ofstream(folder / "log" / name);
  }
  bool holds(const std::string& name) const { return fs::exists(out_ / "log" / name); }
  std::ptrdiff_t names() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }
  std::string refusal(bool replace) const {
    return message_of([&] { check_hnsw_destination(out_.string(), replace, "--overwrite"); });
  }

  farvec::tests::TemporaryFolder folder_;
  const fs::path out_ = folder_.path() / "set";
};

TEST_F(HnswDestinationTest, HasTheNameWhenItIsPublishedAndNotBefore) {
  {
    HnswDestination destination(out_.string() + "/", false, "--overwrite");
    make(destination.folder(), "first");
    EXPECT_FALSE(fs::exists(out_));
    destination.publish();
  }
  EXPECT_TRUE(holds("first"));
  EXPECT_EQ(names(), 1);
  EXPECT_THAT(refusal(false), HasSubstr("--overwrite"));
  {
    HnswDestination destination(out_.string(), true, "--overwrite");
    make(destination.folder(), "second");
    EXPECT_TRUE(holds("first"));
    destination.publish();
  }
  EXPECT_TRUE(holds("second"));
  EXPECT_FALSE(holds("first"));
  EXPECT_EQ(names(), 1);
}

TEST_F(HnswDestinationTest, LeavesNothingWithoutThat) {
  make(out_, "first");
  {
    HnswDestination destination(out_.string(), true, "--overwrite");
    make(destination.folder(), "second");
  }
  EXPECT_TRUE(holds("first"));
  EXPECT_EQ(names(), 1);
  const fs::path deep = folder_.path() / "a" / "b" / "set";
  { const HnswDestination destination(deep.string(), false, "--overwrite"); }
  EXPECT_EQ(names(), 1) << "nor folders above it";
}

TEST_F(HnswDestinationTest, RemovesWhatAKilledBuildHasLeft) {
  make(out_.string() + ".partial", "killed");
  HnswDestination destination(out_.string(), false, "--overwrite");
  make(destination.folder(), "first");
  destination.publish();
  EXPECT_TRUE(holds("first"));
  EXPECT_FALSE(holds("killed"));
  EXPECT_EQ(names(), 1);
}

TEST_F(HnswDestinationTest, RemovesNothingOfOthers) {
  const fs::path partial = out_.string() + ".partial";
  fs::create_directory(partial);
  std::ofstream(partial / "thesis.txt");
  EXPECT_THAT(message_of([&] { HnswDestination(out_.string(), false, "--overwrite"); }),
              HasSubstr("farvec has not made it"));
  EXPECT_TRUE(fs::exists(partial / "thesis.txt"));
}

TEST_F(HnswDestinationTest, ReplacesGraphsAloneAndWhatIsLeftOfThem) {
  fs::create_directories(out_ / "log");
  std::ofstream(out_ / "pages");
  EXPECT_THAT(refusal(false), HasSubstr("failed"));
  EXPECT_EQ(refusal(true), "");
  std::ofstream(out_ / "thesis.txt");
  EXPECT_THAT(refusal(true), HasSubstr("no HNSW graph"));
  fs::remove_all(out_);
  std::ofstream(out_.string());
  EXPECT_THAT(refusal(true), HasSubstr("no HNSW graph"));
}

TEST_F(HnswDestinationTest, IsNotOfAGraphThatSomebodyHasOpen) {
  make(out_, "first");
  const layout::DirectoryLock open(out_);
  EXPECT_THAT(refusal(true), HasSubstr("another process"));
}

TEST_F(HnswDestinationTest, TwoBuildsOfOneNameDoNotMeet) {
  HnswDestination destination(out_.string(), false, "--overwrite");
  PageStoreOptions options;
  options.folder = destination.folder();
  options.buffer_bytes = 64 * options.page_bytes;
  auto store = PageStore::create(options);
  EXPECT_THROW(HnswDestination(out_.string(), false, "--overwrite"), Error);
  store.reset();
  destination.publish();
  EXPECT_TRUE(PageStore::is_store(out_));
}

}  // namespace
}  // namespace farvec::paged
