#include "collection/write/writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "tests/unit/collection/write/opened_parts.h"

namespace farvec::collection {
namespace {

using WriterTest = OpenedParts;

constexpr std::uint32_t kMemtableRows = 50;  // of small_shape()

TEST_F(WriterTest, TakesRowsUntilTooManyMemtablesWait) {
  CollectionAccess access = small_access();
  access.most_frozen = 2;
  open_writer(access);
  Receipt receipt;
  const Status status = insert(rows(0, 1000), receipt);
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_TRUE(Writer::is_about_room(status));
  EXPECT_EQ(receipt.done, 3 * kMemtableRows);
  EXPECT_EQ(receipt.version, 3 * kMemtableRows);
  EXPECT_EQ(writer_->view()->live(), 3 * kMemtableRows);
  EXPECT_FALSE(writer_->may_freeze());
}

TEST_F(WriterTest, FindsIdsOfOneMoment) {
  open_writer();
  ASSERT_TRUE(insert(10, 20).ok());
  Receipt erased;
  ASSERT_TRUE(writer_->erase(std::vector<std::uint64_t>{12, 12, 77}, 0, erased).ok());
  EXPECT_EQ(erased.done, 1u);
  EXPECT_EQ(erased.missing, 2u);
  const std::vector<std::uint64_t> ids = {11, 12, 13, 77};
  const Writer::Found found = writer_->find(ids, {});
  EXPECT_EQ(found.view, writer_->view());
  ASSERT_EQ(found.locations.size(), ids.size());
  EXPECT_EQ(found.locations[0]->row, 1u);
  EXPECT_FALSE(found.locations[1].has_value());
  EXPECT_EQ(found.locations[2]->row, 3u);
  EXPECT_FALSE(found.locations[3].has_value());
  EXPECT_THROW((void)writer_->find(ids, [] { return true; }), WorkInterrupted);
}

TEST_F(WriterTest, ChangesWaitWhileItIsPaused) {
  open_writer();
  ASSERT_TRUE(insert(0, 5).ok());
  {
    const Writer::Lock lock = writer_->lock();
    writer_->pause();
  }
  EXPECT_TRUE(Writer::is_about_room(insert(5, 6)));
  Receipt receipt;
  const std::vector<std::uint64_t> ids = {1};
  EXPECT_TRUE(Writer::is_about_room(writer_->erase(ids, 0, receipt)));
  EXPECT_EQ(writer_->view()->live(), 5u);
  {
    const Writer::Lock lock = writer_->lock();
    writer_->resume();
  }
  EXPECT_TRUE(insert(5, 6).ok());
  EXPECT_TRUE(writer_->erase(ids, 0, receipt).ok());
  EXPECT_EQ(writer_->view()->live(), 5u);
}

TEST_F(WriterTest, ReplaysItsLog) {
  open_writer();
  ASSERT_TRUE(insert(0, 70).ok());
  ASSERT_TRUE(insert(60, 80).ok());
  EXPECT_GT(writer_->logged_bytes(), 90 * kSmallDimension * sizeof(float));
  open_writer();
  EXPECT_EQ(writer_->recovery().changes, 90u);
  EXPECT_EQ(writer_->version(), 90u);
  EXPECT_EQ(writer_->view()->live(), 80u);
  EXPECT_EQ(writer_->logged_bytes(), 0u);
}

}  // namespace
}  // namespace farvec::collection
