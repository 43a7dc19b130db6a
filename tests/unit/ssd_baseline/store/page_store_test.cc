#include "ssd_baseline/store/page_store.h"

#include "tests/unit/ssd_baseline/store/store_fixture.h"

namespace farvec::ssd_baseline {
namespace {

class PageStoreTest : public StoreTest {};

TEST_F(PageStoreTest, AnEmptyStoreOpensAgain) {
  EXPECT_FALSE(PageStore::is_store(folder_));
  EXPECT_EQ(PageStore::create(small_store(folder_))->pages(), 0u);
  EXPECT_TRUE(PageStore::is_store(folder_));
  EXPECT_EQ(PageStore::open(small_store(folder_))->pages(), 0u);
}

TEST_F(PageStoreTest, ChangesAreThereAfterOpeningAgain) {
  StoreModel model;
  for (int round = 0; round < 4; ++round) {
    const auto store = round == 0 ? PageStore::create(small_store(folder_))
                                  : PageStore::open(small_store(folder_));
    ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
    RandomChanges changes(*store, model, 10 + round);
    StoreCore core(*store);
    core.run([&] {
      for (int i = 0; i < 80; ++i) ASSERT_TRUE(changes.add().ok());
      for (int i = 0; i < 1000; ++i) {
        const auto end = changes.change(core.fetcher());
        ASSERT_TRUE(end.ok()) << end.status().message();
      }
    });
    ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
    const StoreCounts counts = store->counts();
    EXPECT_GT(counts.evictions, 0u);
    EXPECT_GT(counts.page_writes, 0u);
    EXPECT_GT(counts.checkpoints, 0u);
  }
}

}  // namespace
}  // namespace farvec::ssd_baseline
