#include "collection/write/manifests.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "tests/unit/collection/write/opened_parts.h"

namespace farvec::collection {
namespace {

class ManifestsTest : public OpenedParts {
 protected:
  ManifestsTest() {
    CollectionAccess access = small_access();
    access.most_log_bytes = kMostLogBytes;
    open_writer(access);
    save();  // a log that is opened begins after a gap
  }

  void save() {
    Writer::Lock lock = writer_->lock();
    writer_->save(lock);
    EXPECT_TRUE(lock.owns_lock());
  }

  static constexpr std::uint64_t kMostLogBytes = 10'000;
};

TEST_F(ManifestsTest, NumbersAreGivenOnce) {
  const std::uint64_t first = manifests_->take_number();
  EXPECT_EQ(manifests_->next_number(), first + 1);
  EXPECT_EQ(manifests_->take_number(), first + 1);
  manifests_->note_change();
  save();
  EXPECT_EQ(on_disk().next_segment, first + 2);
  // No manifest names what is under this number.
  std::filesystem::create_directory(manifests_->segment_folder(first + 7));
  EXPECT_EQ(open_manifests().open().size(), 0u);
  EXPECT_EQ(manifests_->take_number(), first + 2);
  EXPECT_FALSE(std::filesystem::exists(manifests_->segment_folder(first + 7)));
}

TEST_F(ManifestsTest, WritesOneForAllChangesBefore) {
  const std::uint64_t revision = on_disk().revision;
  save();
  EXPECT_EQ(on_disk().revision, revision) << "nothing has changed";
  ASSERT_TRUE(insert(0, 3).ok());
  manifests_->note_change();
  manifests_->note_change();
  EXPECT_FALSE(manifests_->is_saved());
  save();
  EXPECT_TRUE(manifests_->is_saved());
  EXPECT_EQ(on_disk().revision, revision + 1);
  EXPECT_EQ(on_disk().last_version, 3u);
  EXPECT_EQ(on_disk().log_position, *writer_->contents().log_begin());
  save();
  EXPECT_EQ(on_disk().revision, revision + 1);
}

TEST_F(ManifestsTest, ALogIsLongFromWhereItIsReplayed) {
  std::uint64_t id = 0;
  while (!writer_->log_is_long()) {
    ASSERT_TRUE(insert(id, id + 1).ok());
    ++id;
  }
  EXPECT_GT(writer_->log().end() - on_disk().log_position, kMostLogBytes);
  EXPECT_LT(id, kMostLogBytes / sizeof(std::uint64_t));
  save();
  EXPECT_TRUE(writer_->log_is_long()) << "its rows are in no segment";
}

TEST_F(ManifestsTest, AFailureLeavesItUnsaved) {
  const std::uint64_t revision = on_disk().revision;
  manifests_->note_change();
  const std::filesystem::path away = folder_.path() / "away";
  std::filesystem::rename(path(), away);
  {
    Writer::Lock lock = writer_->lock();
    EXPECT_THROW(writer_->save(lock), Error);
    EXPECT_FALSE(lock.owns_lock());
  }
  EXPECT_FALSE(manifests_->is_saved());
  std::filesystem::rename(away, path());
  save();
  EXPECT_TRUE(manifests_->is_saved());
  EXPECT_EQ(on_disk().revision, revision + 2) << "no revision is written twice";
}

}  // namespace
}  // namespace farvec::collection
