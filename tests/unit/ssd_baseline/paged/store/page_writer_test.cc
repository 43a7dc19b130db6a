#include "ssd_baseline/paged/store/page_writer.h"

#include "tests/unit/ssd_baseline/paged/store/mortal_store.h"
#include "tests/unit/ssd_baseline/paged/store/store_fixture.h"

namespace farvec::paged {
namespace {

class PageWriterTest : public StoreTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    parts_ = std::make_shared<MortalParts>(folder_, 1);
  }
  std::shared_ptr<MortalParts> parts_;
};

TEST_F(PageWriterTest, AFailedWriteEndsChangesAndLosesNothing) {
  parts_->faults.write_error_rate = 1;
  StoreModel model;
  {
    const auto store = create_store(small_store(folder_), parts_);
    RandomChanges changes(*store, model, 1);
    Status failure;
    for (int i = 0; i < 200 && failure.ok(); ++i) failure = changes.add().status();
    EXPECT_EQ(failure.code(), StatusCode::data_loss) << failure.message();
    EXPECT_FALSE(store->checkpoint().ok());
    EXPECT_EQ(changes.add().status().code(), StatusCode::data_loss);
    ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
  }
  EXPECT_GT(model.size(), 20u);
  parts_->faults = {};
  const auto store = open_store(small_store(folder_), parts_);
  ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
}

TEST_F(PageWriterTest, WritesThatFailAtTimesAreTriedAgain) {
  parts_->faults.write_error_rate = 0.05;
  parts_->faults.again_rate = 0.1;
  StoreModel model;
  const auto store = create_store(small_store(folder_), parts_);
  RandomChanges changes(*store, model, 2);
  StoreCore core(*store);
  core.run([&] {
    for (int i = 0; i < 120; ++i) ASSERT_TRUE(changes.add().ok());
  });
  ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
}

TEST_F(PageWriterTest, GoesOnWhenAFullLogHasRoomAgain) {
  auto options = small_store(folder_, 2 * kFewFrames);
  options.checkpoint_log_bytes = 1u << 30;
  StoreModel model;
  {
    const auto store = create_store(options, parts_);
    RandomChanges changes(*store, model, 4);
    StoreCore core(*store);
    for (std::size_t i = 0; i < kFewFrames / 2; ++i) ASSERT_TRUE(changes.add().ok());
    ASSERT_TRUE(store->checkpoint().ok());
    parts_->log_disk.faults.room_bytes = 0;
    core.run([&] {
      Status status;
      while (status.ok()) status = changes.change(core.fetcher()).status();
      EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.message();
      EXPECT_EQ(store->checkpoint().code(), StatusCode::resource_exhausted);
      parts_->log_disk.faults.room_bytes = ~0ull;
      const auto end = changes.change(core.fetcher());
      EXPECT_TRUE(end.ok()) << end.status().message();
    });
    EXPECT_TRUE(store->checkpoint().ok());
    ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
  }
  const auto store = open_store(options, parts_);
  ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
}

TEST_F(PageWriterTest, AFullDiskRefusesNewPagesAndNothingElse) {
  parts_->room_bytes = 80 * kPageBytes;
  StoreModel model;
  {
    const auto store = create_store(small_store(folder_), parts_);
    RandomChanges changes(*store, model, 3);
    Status status;
    while (status.ok()) status = changes.add().status();
    EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
    EXPECT_EQ(model.size(), 80u);
    StoreCore core(*store);
    core.run([&] {
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(changes.change(core.fetcher()).ok());
    });
    parts_->room_bytes = ~0ull;
    EXPECT_TRUE(changes.add().ok());
  }
  const auto store = open_store(small_store(folder_), parts_);
  ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
}

}  // namespace
}  // namespace farvec::paged
