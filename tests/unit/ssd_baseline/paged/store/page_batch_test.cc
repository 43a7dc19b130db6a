#include "ssd_baseline/paged/store/page_batch.h"

#include <set>
#include <vector>

#include "tests/unit/ssd_baseline/paged/store/store_fixture.h"

namespace farvec::paged {
namespace {

class PageBatchTest : public StoreTest {};

TEST_F(PageBatchTest, ABatchBringsEveryPageOnceAndCountsAreExact) {
  constexpr PageNumber kPages = 200;
  {
    const auto store = PageStore::create(small_store(folder_, 256));
    StoreModel model;
    RandomChanges changes(*store, model, 1);
    for (PageNumber page = 0; page < kPages; ++page) ASSERT_TRUE(changes.add().ok());
  }
  const auto store = PageStore::open(small_store(folder_, 256));
  StoreCore core(*store);
  core.run([&] {
    PageBatch batch(core.fetcher(), 50);
    FetchCounts counts;
    for (int round = 0; round < 2; ++round) {
      for (PageNumber first = 0; first < kPages; first += 50) {
        std::vector<PageNumber> pages(50);
        for (PageNumber i = 0; i < 50; ++i) pages[i] = first + i;
        ASSERT_TRUE(batch.start(pages, in_us(kLongUs), counts).ok());
        std::set<std::size_t> seen;
        while (batch.left() > 0) {
          ASSERT_TRUE(batch.wait(6).ok());
          PageBatch::Ready ready;
          while (batch.take(ready)) {
            ASSERT_TRUE(ready.status.ok());
            EXPECT_EQ(ready.pin.number(), pages[ready.index]);
            EXPECT_TRUE(seen.insert(ready.index).second);
          }
        }
        EXPECT_EQ(seen.size(), 50u);
      }
    }
    EXPECT_EQ(counts.asked, 2u * kPages);
    EXPECT_EQ(counts.hits, kPages);
    EXPECT_EQ(counts.joined, 0u);
    // Let go of: the reads end in the buffer.
    ASSERT_TRUE(batch.start(std::vector<PageNumber>{1, 2}, in_us(kLongUs), counts).ok());
    batch.clear();
    EXPECT_EQ(batch.left(), 0u);
  });
  EXPECT_EQ(store->counts().page_reads, kPages);
}

}  // namespace
}  // namespace farvec::paged
