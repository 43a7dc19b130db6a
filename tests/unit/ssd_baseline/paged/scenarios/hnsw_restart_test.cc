// The folder as it is after every single update, opened by somebody else: what a kill leaves.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

class HnswRestart : public ::testing::Test {
 protected:
  /// From a fiber, which may not open a graph itself.
  void look_at_copy(std::uint64_t vertices, std::uint64_t marked) {
    std::thread([&] { open_copy(vertices, marked); }).join();
  }
  /// Opens a copy of the folder; nobody has closed the original.
  void open_copy(std::uint64_t vertices, std::uint64_t marked) {
    const tests::TemporaryFolder copy;
    std::filesystem::copy(folder_.path(), copy.path(), std::filesystem::copy_options::recursive);
    const auto hnsw = PagedHnsw::open(options_of(copy));
    const HnswCheckReport report = check_hnsw(*hnsw);
    for (const auto& problem : report.problems) ADD_FAILURE() << problem;
    EXPECT_EQ(report.vertices, vertices);
    EXPECT_EQ(report.marked, marked);
  }
  static PageStoreOptions options_of(const tests::TemporaryFolder& folder) {
    auto options = store_options(folder, 1u << 20);
    options.page_bytes = 4096;
    options.log.segment_bytes = 1u << 20;
    options.log.durability = wal::Durability::commit;
    return options;
  }
  void settle(wal::Position position) {
    ASSERT_TRUE(hnsw_->store().log().wait(position, kPatient).ok());
  }

  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config(8, 4);
  const Rows rows_{200, config_};
  std::unique_ptr<PagedHnsw> hnsw_;
};

TEST_F(HnswRestart, AfterEveryUpdateTheGraphHoldsTogether) {
  hnsw_ = make_paged(options_of(folder_), config_, rows_, 30);
  run_on_pages(hnsw_->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw_, fetcher);
    std::uint64_t vertices = 30;
    for (NodeId id = 30; id < 60; ++id) {
      // Ids that need pages of the id map.
      const auto done = writer.insert(id * 30'000, rows_.row(id), kPatient);
      ASSERT_TRUE(done.ok()) << done.status().message();
      settle(done.value());
      look_at_copy(++vertices, 0);
    }
    std::uint64_t marked = 0;
    for (NodeId id = 0; id < 25; ++id) {
      const auto done = writer.mark_deleted(id, kPatient);
      ASSERT_TRUE(done.ok()) << done.status().message();
      settle(done.value());
      look_at_copy(--vertices, ++marked);
    }
    HnswVacuum vacuum(*hnsw_, fetcher);
    wal::Position last = 0;
    for (bool more = true; more;) {
      more = vacuum.step(kPatient).value();
      if (vacuum.position() == last) continue;
      last = vacuum.position();
      settle(last);
      look_at_copy(vertices, marked - vacuum.done().removed);
    }
    EXPECT_EQ(vacuum.done().removed, 25u);
  });
}

TEST_F(HnswRestart, AnUnfinishedGraphIsRefused) {
  { const auto store = PageStore::create(options_of(folder_)); }
  EXPECT_ANY_THROW(PagedHnsw::open(options_of(folder_)));
}

}  // namespace
}  // namespace farvec::paged
