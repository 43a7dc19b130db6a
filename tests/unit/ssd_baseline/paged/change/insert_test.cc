#include "ssd_baseline/paged/change/insert.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

constexpr int kAttempts = 16;  ///< of an insert
constexpr NodeId kNew = 900;   ///< its id and row

/// Lets others change the graph between an insert's plan and its update.
class Meddling final : public PlacementPolicy {
 public:
  using Meddle = std::function<void(const PlacementRequest&)>;
  Meddling(PagedHnsw& hnsw, PageFetcher& fetcher, Meddle meddle)
      : below_(hnsw, fetcher), meddle_(std::move(meddle)) {}

  Result<Placement> choose(const PlacementRequest& request) override {
    meddle_(request);
    return below_.choose(request);
  }
  Status note(const Placement& placement, PlacementEdit& edit) override {
    return below_.note(placement, edit);
  }

 private:
  FallbackPlacement below_;
  Meddle meddle_;
};

class InsertTest : public ::testing::Test {
 protected:
  /// How an insert of kNew ends while `meddle` is called with a writer before each of its updates.
  template <typename Meddle>
  Status insert(PagedHnsw& hnsw, PageFetcher& fetcher, Meddle&& meddle) {
    HnswWriter other(hnsw, fetcher);
    Meddling policy(hnsw, fetcher,
                    [&](const PlacementRequest& request) { meddle(other, request); });
    HnswWriter writer(hnsw, fetcher, {.reads = {}, .placement = &policy});
    const Status status = writer.insert(kNew, rows_.row(kNew), kPatient).status();
    written_ = writer.written();
    return status;
  }
  /// Deletes all that the insert has chosen.
  void delete_chosen(HnswWriter& other, const PlacementRequest& request) {
    for (const graph::Candidate& neighbor : request.neighbors) {
      delete_id(other, neighbor.id);
      deleted_.push_back(neighbor.id);
    }
  }
  bool is_deleted(NodeId id) const { return std::ranges::count(deleted_, id) > 0; }

  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config();
  const Rows rows_{1000, config_};
  const Rows queries_{40, config_, 9};
  std::vector<NodeId> deleted_;
  HnswWriteCounts written_;
};

TEST_F(InsertTest, IsRefusedWhenItsNeighboursAreDeletedEveryTime) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 600);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    const Status status = insert(*hnsw, fetcher, [&](HnswWriter& other, const auto& request) {
      delete_chosen(other, request);
    });
    EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.message();
    EXPECT_EQ(written_.retries, static_cast<std::uint64_t>(kAttempts));
    HnswWriter writer(*hnsw, fetcher);
    EXPECT_EQ(writer.mark_deleted(kNew, kPatient).status().code(), StatusCode::not_found);
  });
  expect_sound(*hnsw, 600 - deleted_.size());
  const auto there = [&](NodeId id) { return id < 600 && !is_deleted(id); };
  EXPECT_GT(recall_of(*hnsw, rows_, queries_, 40, there), 0.97);
}

TEST_F(InsertTest, IsConnectedInItsLastAttempt) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 600);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    int calls = 0;
    const Status status = insert(*hnsw, fetcher, [&](HnswWriter& other, const auto& request) {
      if (++calls < kAttempts) delete_chosen(other, request);
    });
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_GT(written_.edges_back, 0u);
    HnswSearcher searcher(*hnsw, fetcher);
    EXPECT_EQ(answer(searcher, rows_.row(kNew), 20).front().id, kNew);
  });
  expect_sound(*hnsw, 601 - deleted_.size());
}

TEST_F(InsertTest, DoesNotTakeTheEntryFromTheOnlyOtherVertex) {
  const auto hnsw = PagedHnsw::create(store_options(folder_), config_, {});
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    NodeId last = 0;
    const Status status = insert(*hnsw, fetcher, [&](HnswWriter& other, const auto&) {
      if (last > 0) delete_id(other, last);
      insert_row(other, rows_, ++last);
    });
    EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.message();
    HnswSearcher searcher(*hnsw, fetcher);
    EXPECT_EQ(ids_of(answer(searcher, rows_.row(kNew), 20)), std::vector<NodeId>{last});
  });
  expect_sound(*hnsw, 1);
}

TEST_F(InsertTest, IsFoundOrRefusedWhenListsChangeEveryTime) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 100);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    NodeId next = 2000;
    const Status status = insert(*hnsw, fetcher, [&](HnswWriter& other, const auto&) {
      for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(other.insert(next++, rows_.row(kNew), kPatient).ok());
      }
    });
    HnswSearcher searcher(*hnsw, fetcher);
    const auto found = ids_of(answer(searcher, rows_.row(kNew), 150));
    EXPECT_EQ(status.ok(), std::ranges::count(found, kNew) == 1) << status.message();
    EXPECT_GT(written_.retries, 0u);
  });
}

}  // namespace
}  // namespace farvec::paged
