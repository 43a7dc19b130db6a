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

/// With two edges to a vertex the selections of all its neighbours often leave a new one out.
TEST_F(InsertTest, AnEdgeLeadsToEachNewVertex) {
  const auto hnsw = make_paged(store_options(folder_), small_config(12, 2), rows_, 100);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 100; id < kNew; ++id) {
      const std::uint64_t before = writer.written().edges_back;
      insert_row(writer, rows_, id);
      EXPECT_GT(writer.written().edges_back, before) << id;
    }
  });
  expect_sound(*hnsw, kNew);
}

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

TEST_F(InsertTest, TakesAnotherFreePlaceOfAListThatHasChanged) {
  const auto hnsw = make_paged(store_options(folder_), config_, rows_, 8);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    const Status status = insert(*hnsw, fetcher, [&](HnswWriter& other, const auto& request) {
      ASSERT_EQ(request.neighbors.size(), 8u);
      insert_row(other, rows_, 8);
      EXPECT_GT(other.written().edges_back, 0u);
    });
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(written_.retries, 0u);
    EXPECT_EQ(written_.edges_back, 8u);
    EXPECT_EQ(written_.left_out, 0u);
  });
  expect_sound(*hnsw, 10);
}

/// Wants a new page, and asks to be asked again; when all of its kind have done so, any page will
/// do.
class Fickle final : public PlacementPolicy {
 public:
  Fickle(PagedHnsw& hnsw, PageFetcher& fetcher, int& waiting)
      : below_(hnsw, fetcher), fetcher_(fetcher), waiting_(waiting) {}

  Result<Placement> choose(const PlacementRequest& request) override {
    if (asked_++ == 0) return Placement{};
    --waiting_;
    while (waiting_ > 0) fetcher_.scheduler().yield();
    return below_.choose(request);
  }
  Status note(const Placement& placement, PlacementEdit& edit) override {
    if (asked_ == 1) return {StatusCode::cancelled, "ask me again"};
    return below_.note(placement, edit);
  }

 private:
  FallbackPlacement below_;
  PageFetcher& fetcher_;
  int& waiting_;
  int asked_ = 0;
};

TEST_F(InsertTest, GivesNewPagesThatItDoesNotUseToOthers) {
  constexpr int kInserts = 12;
  constexpr std::uint32_t kKept = 8;
  PageStoreOptions options = store_options(folder_);
  options.page_bytes = 4096;
  const auto hnsw = make_paged(options, config_, rows_, 100);
  const PageNumber pages = hnsw->store().pages();
  int waiting = kInserts;
  std::uint64_t added = 0;
  {
    coroutines::Scheduler scheduler;
    PageFetcher fetcher(hnsw->store(), scheduler);
    scheduler.set_poller([&] { return fetcher.poll(); });
    for (NodeId id = 100; id < 100 + kInserts; ++id) {
      const auto work = [&, id] {
        Fickle policy(*hnsw, fetcher, waiting);
        HnswWriter writer(*hnsw, fetcher, {.reads = {}, .placement = &policy});
        insert_row(writer, rows_, id);
        added += writer.written().pages_added;
      };
      ASSERT_TRUE(scheduler.spawn(work).ok());
    }
    scheduler.run();
  }
  // 8 are kept for the next inserts, the others are on the list of pages with free space.
  expect_sound(*hnsw, 100 + kInserts);
  EXPECT_EQ(added, kInserts - kKept);
  const std::uint64_t listed = check_hnsw(*hnsw).free_list_pages;
  EXPECT_GE(listed, kInserts - kKept - 1);  // one may be the insert page already
  EXPECT_LE(listed, kInserts - kKept);
  // Later inserts fill all of them.
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 200; id < 1000; ++id) insert_row(writer, rows_, id);
  });
  expect_sound(*hnsw, 900 + kInserts);
  const layout::HnswState state = hnsw->describe().state;
  std::uint32_t used = 0;
  for (std::size_t kind = 1; kind < state.pages.size(); ++kind) used += state.pages[kind];
  EXPECT_GT(used, pages + kInserts);
  EXPECT_EQ(used, hnsw->store().pages());
}

}  // namespace
}  // namespace farvec::paged
