#include "collection/write/background.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "tests/unit/collection/comes.h"
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
  /// Memtables have 50 rows.
  void tell(std::uint64_t begin, std::uint64_t end) {
    const Batch batch = rows(begin, end);
    Receipt receipt;
    ASSERT_TRUE(writer_
                    ->insert({batch.rows(), batch.ids()}, now_ticks() + us_to_ticks(60e6), receipt,
                             Writer::Unlinked::many)
                    .ok());
  }
  std::uint64_t unlinked() const {
    const Writer::Lock lock = writer_->lock();
    return writer_->contents().unlinked();
  }
  /// For a search process, and long enough that this test would not come to its end.
  static CollectionAccess resting_access(double rest_us = 3600e6) {
    CollectionAccess access = small_access();
    access.link = true;
    access.rest_us = rest_us;
    return access;
  }
  /// What would be done by now without a rest.
  void expect_nothing_done(std::uint64_t unlinked_rows) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(counts().built, 0u);
    EXPECT_EQ(counts().merged, 0u);
    EXPECT_EQ(unlinked(), unlinked_rows);
  }
  void end_rest() {
    const Writer::Lock lock = writer_->lock();
    writer_->end_rest();
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

TEST_F(BackgroundTest, RestsUntilItIsToldToGoOn) {
  open_background(resting_access());
  tell(0, 40);
  tell(40, 80);
  expect_nothing_done(80);
  end_rest();
  EXPECT_TRUE(comes([&] { return counts().built == 1 && unlinked() == 0; }));
  EXPECT_EQ(writer_->view()->live(), 80u);
}

TEST_F(BackgroundTest, MergesNothingWhileItRests) {
  CollectionAccess access = small_access();
  access.merge = false;
  open_background(access);
  for (std::uint64_t id = 0; id < 150; id += 50) {
    ASSERT_TRUE(insert(id, id + 50).ok());
    ASSERT_TRUE(background_->flush({}));
  }
  open_background(resting_access());
  ASSERT_EQ(writer_->view()->segments.size(), 3u);
  expect_nothing_done(0);
  end_rest();
  EXPECT_TRUE(comes([&] { return counts().merged == 1; }));
  EXPECT_EQ(writer_->view()->live(), 150u);
}

TEST_F(BackgroundTest, RestsNoLongerWhereMemtablesHaveNoRoom) {
  open_background(resting_access());
  tell(0, 50);
  tell(50, 100);
  tell(100, 150);
  expect_nothing_done(150);
  for (std::uint64_t id = 150; id < 400; id += 50) tell(id, id + 50);
  EXPECT_TRUE(comes([&] { return unlinked() == 0 && counts().built >= 7; }));
  EXPECT_EQ(writer_->view()->live(), 400u);
  writer_->rest().put_off(now_ticks() + us_to_ticks(3600e6));
  tell(400, 450);
  EXPECT_TRUE(comes([&] { return unlinked() == 0; })) << "the rest is over for good";
}

TEST_F(BackgroundTest, RestsAsLongAsItIsPutOff) {
  open_background(resting_access(1));
  writer_->rest().put_off(now_ticks() + us_to_ticks(1e6));
  tell(0, 50);
  tell(50, 70);
  EXPECT_TRUE(comes([&] { return counts().built == 1 && unlinked() == 0; }));
  writer_->rest().put_off(now_ticks() + us_to_ticks(3600e6));
  tell(70, 90);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(unlinked(), 20u);
}

TEST_F(BackgroundTest, ACallThatWaitsEndsTheRest) {
  open_background(resting_access());
  tell(0, 60);
  EXPECT_TRUE(background_->flush({}));
  EXPECT_EQ(counts().built, 2u);
  EXPECT_FALSE(writer_->rest().lasts());
}

TEST_F(BackgroundTest, EndsWhileItRests) {
  open_background(resting_access());
  tell(0, 60);
  close();
  EXPECT_EQ(on_disk().segments.size(), 0u);
}

}  // namespace
}  // namespace farvec::collection
