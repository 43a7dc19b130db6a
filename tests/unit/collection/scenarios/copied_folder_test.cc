// Copies of a collection's folder beside its log on a memory node, in every order of copying,
// moving the log and opening.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "tests/unit/collection/nodes_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CopiedFolder : public SegmentsOnNodes {
 protected:
  CopiedFolder() {
    log_bytes_ = std::uint64_t{32} << 20;
    start(0);
    Collection::create(original_, small_shape());
  }

  CollectionAccess access(bool on_nodes) const {
    CollectionAccess access = small_access();
    access.durability = wal::Durability::commit;
    if (!on_nodes) return access;
    LogNodesOptions options;
    options.nodes = addresses(1);
    options.attach = attach_options();
    access.log_nodes = std::make_shared<LogNodes>(std::move(options));
    return access;
  }
  void add(const fs::path& folder, bool on_nodes, std::uint64_t first, std::uint64_t count) {
    Collection collection(folder, access(on_nodes));
    Batch batch;
    for (std::uint64_t id = first; id < first + count; ++id) batch.add(id, random_row(random_));
    insert(collection, batch);
  }
  std::uint64_t live(const fs::path& folder, bool on_nodes = true) const {
    return size_of(*Collection(folder, access(on_nodes)).view()).live;
  }
  std::string refusal(const fs::path& folder) const {
    return tests::message_of([&] { (void)live(folder); });
  }
  void copy(const fs::path& to) const { fs::copy(original_, to, fs::copy_options::recursive); }

  const fs::path original_ = folder_.file("original");
  const fs::path copy_ = folder_.file("copy");
};

TEST_F(CopiedFolder, MadeBeforeTheMoveNeverClearsTheOriginalsLog) {
  add(original_, false, 0, 10);
  copy(copy_);
  add(original_, true, 10, 30);
  EXPECT_THAT(refusal(copy_), HasSubstr("holds the log of another collection"));
  EXPECT_THAT(refusal(copy_), HasSubstr("holds the log of another collection"));
  EXPECT_EQ(live(original_), 40u);
  EXPECT_EQ(live(copy_, false), 10u) << "the copy's own log is as it was";
}

TEST_F(CopiedFolder, ThatIsOpenedFirstHasTheNodeAndTheOriginalKeepsItsRows) {
  add(original_, false, 0, 10);
  copy(copy_);
  add(copy_, true, 100, 5);
  EXPECT_THAT(refusal(original_), HasSubstr("holds the log of another collection"));
  EXPECT_EQ(live(copy_), 15u);
  EXPECT_EQ(live(original_, false), 10u);
}

TEST_F(CopiedFolder, MadeAfterTheMoveIsRefusedOnceTheOriginalWasOpened) {
  add(original_, true, 0, 10);
  copy(copy_);
  add(original_, true, 10, 30);
  EXPECT_THAT(refusal(copy_), HasSubstr("a copy of the folder was opened"));
  EXPECT_EQ(live(original_), 40u);
}

TEST_F(CopiedFolder, MadeAfterTheMoveAndOpenedFirstIsToldByTheOriginal) {
  add(original_, true, 0, 10);
  copy(copy_);
  add(copy_, true, 10, 5);
  EXPECT_THAT(refusal(original_), HasSubstr("a copy of the folder was opened"));
  EXPECT_EQ(live(copy_), 15u);
}

/// A folder that is renamed stays what it is.
TEST_F(CopiedFolder, ARenamedOneIsTheOriginal) {
  add(original_, true, 0, 10);
  fs::rename(original_, copy_);
  add(copy_, true, 10, 5);
  EXPECT_EQ(live(copy_), 15u);
}

/// As a kill leaves it after the manifest said which log the move makes.
TEST_F(CopiedFolder, AMoveThatWasKilledIsMadeAgain) {
  add(original_, false, 0, 10);
  copy(copy_);
  add(original_, true, 10, 5);
  layout::CollectionManifest moving = layout::read_collection(copy_);
  moving.log_moving = layout::read_collection(original_).log_on_nodes;
  moving.log_epoch = layout::read_collection(original_).log_epoch;
  ++moving.revision;
  layout::write_collection(copy_, moving);
  EXPECT_EQ(live(copy_), 10u) << "what lies on the node is a former attempt's, as its epoch says";
  const layout::CollectionManifest moved = layout::read_collection(copy_);
  EXPECT_EQ(moved.log_on_nodes, moving.log_moving);
  EXPECT_EQ(moved.log_moving, 0u);
  EXPECT_GT(moved.log_epoch, moving.log_epoch);
  EXPECT_FALSE(fs::exists(copy_ / layout::kCollectionLogFolder));
}

TEST_F(CopiedFolder, OfAMoveThatWasCompletedSinceIsRefused) {
  add(original_, false, 0, 10);
  copy(copy_);
  add(original_, true, 10, 5);
  layout::CollectionManifest moving = layout::read_collection(copy_);
  moving.log_moving = layout::read_collection(original_).log_on_nodes;
  moving.log_epoch = 1;
  layout::write_collection(copy_, moving);
  EXPECT_EQ(live(original_), 15u);
  EXPECT_THAT(refusal(copy_), HasSubstr("a copy of the folder was opened"));
  EXPECT_EQ(live(original_), 15u);
}

/// A move removes what is the log's, and nothing that only lies beside it.
TEST_F(CopiedFolder, AMoveRemovesNoFileOfOthers) {
  add(original_, false, 0, 10);
  const fs::path log = original_ / layout::kCollectionLogFolder;
  fs::create_directory(log / "mine");
  add(original_, true, 10, 5);
  EXPECT_TRUE(fs::exists(log / "mine"));
  EXPECT_EQ(std::distance(fs::directory_iterator(log), fs::directory_iterator()), 1);
  EXPECT_EQ(live(original_), 15u);
}

}  // namespace
}  // namespace farvec::collection
