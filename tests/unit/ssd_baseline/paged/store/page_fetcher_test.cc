#include "ssd_baseline/paged/store/page_fetcher.h"

#include <memory>
#include <string>
#include <vector>

#include "ssd_baseline/paged/store/page_batch.h"
#include "tests/unit/ssd_baseline/paged/store/store_fixture.h"

namespace farvec::paged {
namespace {

class PageFetcherTest : public StoreTest {
 protected:
  /// A store of more pages than it has frames, none of them dirty: a slow write of a dirty page
  /// would hold the frame that a test's last fetch needs.
  std::unique_ptr<PageStore> clean_store() {
    auto store = PageStore::create(small_store(folder_));
    StoreModel model;
    RandomChanges changes(*store, model, 1);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(changes.add().ok());
    EXPECT_TRUE(store->checkpoint().ok());
    return store;
  }

  /// Pins a page in every frame.
  static void pin_all(StoreCore& core, FetchCounts& counts, std::vector<PagePin>& held) {
    for (PageNumber page = 0; page < kFewFrames; ++page) {
      auto pin = core.fetcher().fetch(page, in_us(kLongUs), counts);
      ASSERT_TRUE(pin.ok()) << pin.status().message();
      held.push_back(std::move(pin).value());
    }
  }
};

TEST_F(PageFetcherTest, AReadOutlivesItsFetcherForThoseWhoJoinedIt) {
  {
    const auto store = PageStore::create(small_store(folder_));
    StoreModel model;
    RandomChanges changes(*store, model, 1);
    ASSERT_TRUE(changes.add().ok());
  }
  const auto store = PageStore::open(small_store(folder_));
  FetchCounts counts;
  coroutines::Scheduler first_core;
  auto first = std::make_unique<PageFetcher>(*store, first_core);
  ASSERT_TRUE(first_core
                  .spawn([&] {
                    PageBatch batch(*first, 1);
                    ASSERT_TRUE(
                        batch.start(std::vector<PageNumber>{0}, in_us(kLongUs), counts).ok());
                  })
                  .ok());
  first_core.run();  // nobody polls: the read is out
  StoreCore second(*store);
  second.scheduler().set_poller([&] {
    first.reset();
    return second.fetcher().poll();
  });
  second.run([&] {
    const auto pin = second.fetcher().fetch(0, in_us(kLongUs), counts);
    EXPECT_TRUE(pin.ok()) << pin.status().message();
  });
  EXPECT_EQ(counts.joined, 1u);
}

TEST_F(PageFetcherTest, WhenAllFramesArePinnedItSaysWhatToDo) {
  const auto store = clean_store();
  StoreCore core(*store);
  core.run([&] {
    std::vector<PagePin> held;
    FetchCounts counts;
    ASSERT_NO_FATAL_FAILURE(pin_all(core, counts, held));
    const auto none = core.fetcher().fetch(99, in_us(kShortUs), counts);
    ASSERT_EQ(none.status().code(), StatusCode::deadline_exceeded);
    EXPECT_NE(std::string(none.status().message()).find("--buffer"), std::string::npos);
    EXPECT_EQ(core.fetcher().add_page(in_us(kShortUs)).status().code(),
              StatusCode::deadline_exceeded);
    EXPECT_EQ(store->add_page().status().code(), StatusCode::resource_exhausted);
    held.pop_back();
    EXPECT_TRUE(core.fetcher().fetch(99, in_us(kLongUs), counts).ok());
    EXPECT_TRUE(core.fetcher().add_page(in_us(kLongUs)).ok());
  });
}

TEST_F(PageFetcherTest, AFiberThatWaitsForAFrameLetsOthersGiveTheirsBack) {
  const auto store = clean_store();
  StoreCore core(*store);
  FetchCounts counts;
  std::vector<PagePin> held;
  core.spawn([&] {
    ASSERT_NO_FATAL_FAILURE(pin_all(core, counts, held));
    core.scheduler().suspend_until(in_us(kShortUs));
    held.clear();
  });
  int waited = 0;
  core.spawn([&] {
    while (held.size() < kFewFrames) core.scheduler().yield();
    const auto added = core.fetcher().add_page(in_us(kLongUs));
    EXPECT_TRUE(added.ok()) << added.status().message();
    EXPECT_TRUE(held.empty());
    ++waited;
  });
  core.spawn([&] {
    while (held.size() < kFewFrames) core.scheduler().yield();
    EXPECT_TRUE(core.fetcher().fetch(99, in_us(kLongUs), counts).ok());
    EXPECT_TRUE(held.empty());
    ++waited;
  });
  core.run();
  EXPECT_EQ(waited, 2);
  EXPECT_EQ(store->counts().waits_for_frames, 2u);
}

}  // namespace
}  // namespace farvec::paged
