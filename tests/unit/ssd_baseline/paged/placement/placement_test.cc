#include "ssd_baseline/paged/placement/placement.h"

#include <gtest/gtest.h>

#include "ssd_baseline/paged/graph/hnsw_edit.h"
#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

class PlacementTest : public ::testing::Test {
 protected:
  void SetUp() override { hnsw_ = make_paged(store_options(folder_), config_, rows_, 300); }
  PageNumber page_of(PageFetcher& fetcher, NodeId id) {
    HnswSearcher searcher(*hnsw_, fetcher);
    return layout::HnswPlace::of(answer(searcher, rows_.row(id), 20).front().handle).page;
  }
  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config();
  const Rows rows_{1000, config_};
  std::unique_ptr<PagedHnsw> hnsw_;
};

TEST_F(PlacementTest, FillsTheInsertPageThenTheListThenANewPage) {
  run_on_pages(hnsw_->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw_, fetcher);
    FetchCounts counts;
    const PageNumber last = hnsw_->state(fetcher, kPatient, counts).value().insert_page;
    for (NodeId id = 0; id < 10; ++id) delete_id(writer, id);
    run_vacuum(*hnsw_, fetcher);
    NodeId next = 300;
    PageNumber page = last;
    for (; page == last; ++next) {
      insert_row(writer, rows_, next);
      page = page_of(fetcher, next);
    }
    EXPECT_EQ(page, 1u);  // where the first rows were
    for (; page == 1; ++next) {
      insert_row(writer, rows_, next);
      page = page_of(fetcher, next);
    }
    EXPECT_GT(page, last);
  });
  EXPECT_TRUE(check_hnsw(*hnsw_).ok());
}

/// Puts every vertex on the page that the fallback would take last.
class FirstPagePolicy final : public PlacementPolicy {
 public:
  Result<Placement> choose(const PlacementRequest& request) override {
    EXPECT_EQ(request.partitions.size(), request.neighbors.size());
    ++asked;
    return Placement{.page = full ? layout::kNoPage : 1, .partition = 7};
  }
  Status note(const Placement&, PlacementEdit& edit) override {
    full = edit.new_page;
    ++noted;
    return {};
  }
  int asked = 0;
  int noted = 0;
  bool full = false;
};

TEST_F(PlacementTest, APolicyOfSomebodyElseIsAskedAgainWhenThePageIsFull) {
  run_on_pages(hnsw_->store(), [&](PageFetcher& fetcher) {
    FirstPagePolicy policy;
    HnswWriter writer(*hnsw_, fetcher, {.reads = {}, .placement = &policy});
    for (NodeId id = 0; id < 10; ++id) delete_id(writer, id);
    run_vacuum(*hnsw_, fetcher);
    policy.full = true;
    insert_row(writer, rows_, 400);
    EXPECT_EQ(writer.written().pages_added, 1u);
    policy.full = false;
    for (NodeId id = 401; id < 405; ++id) {
      insert_row(writer, rows_, id);
      EXPECT_EQ(page_of(fetcher, id), 1u);
    }
    EXPECT_EQ(policy.asked, policy.noted);
    // Page 1 is full in the end, and the first of the list: it does not hide the others.
    Status status;
    NodeId id = 405;
    for (; status.ok() && id < 430; ++id) {
      status = writer.insert(id, rows_.row(id), kPatient).status();
    }
    EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
    EXPECT_GT(policy.asked, policy.noted);
    HnswWriter fallback(*hnsw_, fetcher);
    for (id = 500; id < 700; ++id) insert_row(fallback, rows_, id);
  });
  EXPECT_EQ(hnsw_->describe().state.free_pages, layout::kNoPage);
  EXPECT_TRUE(check_hnsw(*hnsw_).ok());
}

}  // namespace
}  // namespace farvec::paged
