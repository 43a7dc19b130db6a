#include "collection/write/background.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "tests/unit/collection/write/opened_parts.h"

namespace farvec::collection {
namespace {

class BackgroundTest : public OpenedParts {
 protected:
  BackgroundCounts counts() const {
    const Writer::Lock lock = writer_->lock();
    return background_->counts();
  }
  std::string failure() const {
    const Writer::Lock lock = writer_->lock();
    return background_->failure();
  }
};

TEST_F(BackgroundTest, CountsWhatItMakes) {
  CollectionAccess access = small_access();
  access.merge = false;  // unless it is asked for
  open_background(access);
  ASSERT_TRUE(insert(0, 30).ok());
  EXPECT_EQ(counts().built, 0u);
  EXPECT_TRUE(background_->flush({}));
  EXPECT_EQ(counts().built, 1u);
  EXPECT_TRUE(background_->flush({})) << "there is nothing to make";
  EXPECT_EQ(counts().built, 1u);
  const Batch batch = rows(10, 50);
  const Receipt receipt = background_->import({batch.rows(), batch.ids()}, {});
  EXPECT_EQ(receipt.done, 40u);
  EXPECT_EQ(receipt.replaced, 20u);
  EXPECT_EQ(counts().built, 2u);
  EXPECT_TRUE(background_->compact({}));
  EXPECT_EQ(counts().merged, 1u);
  EXPECT_EQ(counts().failures, 0u);
  EXPECT_EQ(writer_->view()->segments.size(), 1u);
  EXPECT_EQ(on_disk().segments.size(), 1u);
  std::uint64_t bytes = 0;
  const ViewPointer view = writer_->view();
  for (const View::Bulk& bulk : view->segments) bytes += bulk.segment->file_bytes();
  EXPECT_GT(counts().segment_bytes, bytes) << "all that were written count";
}

TEST_F(BackgroundTest, ACallHearsOfAFailureAndTheNextOneTriesAtOnce) {
  open_background();
  ASSERT_TRUE(insert(0, 30).ok());
  const std::filesystem::path away = folder_.path() / "away";
  std::filesystem::rename(path(), away);
  EXPECT_THROW((void)background_->flush({}), Error);
  EXPECT_NE(failure(), "");
  EXPECT_GE(counts().failures, 1u);
  std::filesystem::rename(away, path());
  EXPECT_TRUE(background_->flush({}));
  EXPECT_EQ(failure(), "");
  EXPECT_EQ(writer_->view()->segments.size(), 1u);
}

TEST_F(BackgroundTest, AnImportThatFailsLeavesChangesGoOn) {
  open_background();
  const Batch batch = rows(0, 20);
  const std::filesystem::path away = folder_.path() / "away";
  std::filesystem::rename(path(), away);
  EXPECT_THROW((void)background_->import({batch.rows(), batch.ids()}, {}), Error);
  std::filesystem::rename(away, path());
  EXPECT_TRUE(insert(5, 10).ok());
  EXPECT_EQ(background_->import({batch.rows(), batch.ids()}, {}).replaced, 5u);
  EXPECT_EQ(writer_->view()->live(), 20u);
}

TEST_F(BackgroundTest, AnImportThatIsGivenUpLeavesNothing) {
  open_background();
  const Batch batch = rows(0, 20);
  EXPECT_THROW((void)background_->import({batch.rows(), batch.ids()}, [] { return true; }),
               WorkInterrupted);
  EXPECT_EQ(writer_->view()->live(), 0u);
  EXPECT_EQ(counts().failures, 0u) << "it is no failure";
  EXPECT_TRUE(std::filesystem::is_empty(path() / "segments"));
  EXPECT_EQ(background_->import({batch.rows(), batch.ids()}, [] { return false; }).done, 20u);
}

}  // namespace
}  // namespace farvec::collection
