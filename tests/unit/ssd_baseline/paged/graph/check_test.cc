#include "ssd_baseline/paged/graph/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ssd_baseline/paged/graph/hnsw_edit.h"
#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class HnswCheck : public ::testing::Test {
 protected:
  HnswCheck() : hnsw_(make_paged(store_options(folder_), config_, rows_, 200)) {}

  /// Changes page 0 and page 1 as no writer would.
  void spoil(const std::function<Status(PageEditor&)>& edit) {
    run_on_pages(hnsw_->store(), [&](PageFetcher& fetcher) {
      FetchCounts counts;
      auto meta = fetcher.fetch(0, kPatient, counts);
      auto page = fetcher.fetch(1, kPatient, counts);
      PagePin* pins[] = {&meta.value(), &page.value()};
      const auto done = hnsw_->store().update(pins, edit);
      EXPECT_TRUE(done.ok()) << done.status().message();
    });
  }
  void spoil_state(const std::function<void(layout::HnswState&)>& change) {
    spoil([&](PageEditor& editor) {
      layout::HnswState state = edited_state(editor, 0).value();
      change(state);
      return write_state(editor, 0, state);
    });
  }
  void expect_problem(const char* text) {
    const HnswCheckReport report = check_hnsw(*hnsw_);
    EXPECT_FALSE(report.ok());
    ASSERT_FALSE(report.problems.empty());
    EXPECT_THAT(report.problems, ::testing::Contains(HasSubstr(text)));
  }

  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config();
  const Rows rows_{200, config_};
  std::unique_ptr<PagedHnsw> hnsw_;
};

TEST_F(HnswCheck, SaysWhatThereIs) {
  const HnswCheckReport report = check_hnsw(*hnsw_);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.vertices, 200u);
  EXPECT_EQ(report.id_map_entries, 200u);
  EXPECT_EQ(report.layers.front(), 200u);
  EXPECT_EQ(report.layers.size(), hnsw_->describe().state.entry_level + 1u);
  EXPECT_GT(report.edges, 200u * config_.m);
}

TEST_F(HnswCheck, FindsAnEdgeToNowhere) {
  spoil([&](PageEditor& editor) {
    const layout::HnswPlace nowhere{1, 4001};
    return patch_places(editor, {1, 1}, hnsw_->shape().place_offset(0, 0), {&nowhere, 1});
  });
  expect_problem("where no vertex is");
}

TEST_F(HnswCheck, FindsAnEdgeToItselfAndTwice) {
  spoil([&](PageEditor& editor) {
    const layout::HnswPlace itself[] = {{1, 0}, {1, 0}};
    return patch_places(editor, {1, 1}, hnsw_->shape().place_offset(0, 0), itself);
  });
  expect_problem("leads to itself");
  expect_problem("names another twice");
}

TEST_F(HnswCheck, FindsAnIdThatTheMapDoesNotKnow) {
  spoil([&](PageEditor& editor) {
    const NodeId id = 100'000;
    return editor.patch(1, 0, offsetof(layout::HnswElementHeader, id), bytes_of(id));
  });
  expect_problem("the id map leads from 0");
}

TEST_F(HnswCheck, FindsAVertexThatWasErasedAlone) {
  spoil([](PageEditor& editor) { return editor.erase(1, 0); });
  expect_problem("tuples of");
  expect_problem("the meta page counts 200 vertices");
}

TEST_F(HnswCheck, FindsWrongCountsAndEntry) {
  spoil_state([](layout::HnswState& state) { ++state.marked; });
  expect_problem("1 marked ones");
  spoil_state([](layout::HnswState& state) { ++state.pages[2]; });
  expect_problem("pages of kind 2");
  spoil_state([](layout::HnswState& state) { state.entry_slot = 4001; });
  expect_problem("no vertex at the entry");
}

TEST_F(HnswCheck, FindsAFreeListThatIsNone) {
  spoil_state([](layout::HnswState& state) { state.free_pages = 1; });
  expect_problem("does not say so");
  spoil([](PageEditor& editor) -> Status {
    editor.set_tag(1, layout::kHnswFreeListBit);
    editor.set_next(1, 1);
    return {};
  });
  expect_problem("say that they are in the list");
}

}  // namespace
}  // namespace farvec::paged
