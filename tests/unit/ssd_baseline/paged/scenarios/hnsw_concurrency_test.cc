// Searches, inserts, deletes and a vacuum at once, as fibers on two threads.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

constexpr NodeId kFirst = 400;  ///< rows that are there from the beginning
constexpr NodeId kEach = 60;    ///< rows that a writer inserts

/// Runs the fibers of one thread, each with the thread's fetcher, until all have returned.
void run_fibers(PagedHnsw& hnsw, const std::vector<std::function<void(PageFetcher&)>>& fibers) {
  coroutines::Scheduler scheduler;
  PageFetcher fetcher(hnsw.store(), scheduler);
  scheduler.set_poller([&] { return fetcher.poll(); });
  for (const auto& fiber : fibers) {
    ASSERT_TRUE(scheduler.spawn([&] { fiber(fetcher); }).ok());
  }
  scheduler.run();
}

class HnswConcurrency : public ::testing::Test {
 protected:
  HnswConcurrency() {
    // A buffer of fewer pages than there are: fibers suspend in the middle of everything.
    auto options = store_options(folder_, 192u * 4096);
    options.page_bytes = 4096;
    hnsw_ = make_paged(options, config_, rows_, kFirst);
  }

  /// Inserts the writer's rows and deletes as many of the first ones.
  void write(PageFetcher& fetcher, NodeId writer_number) {
    HnswWriter writer(*hnsw_, fetcher, {.reads = {.mode = ReadMode(writer_number % 3)}});
    for (NodeId i = 0; i < kEach; ++i) {
      insert_row(writer, rows_, kFirst + writer_number * kEach + i);
      delete_id(writer, writer_number * kEach + i);
      fetcher.scheduler().yield();
    }
    --writers_;
  }
  void search(PageFetcher& fetcher, NodeId number) {
    HnswSearcher searcher(*hnsw_, fetcher, {ReadMode(number % 3), 2});
    for (NodeId q = number; writers_ > 0; q = (q + 7) % 1000) {
      const auto found = answer(searcher, rows_.row(q), 10);
      EXPECT_GE(found.size(), 5u);
      for (const auto& c : found) {
        // Whatever was found was scored by its own vector.
        EXPECT_EQ(c.distance, hnsw_->distance(rows_.row(q).data(), rows_.row(c.id).data()));
      }
      fetcher.scheduler().yield();
    }
  }
  void vacuum(PageFetcher& fetcher) {
    while (writers_ > 0) {
      run_vacuum(*hnsw_, fetcher);
      fetcher.scheduler().yield();
    }
  }

  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config(32, 5);
  const Rows rows_{1000, config_};
  const Rows queries_{30, config_, 9};
  std::unique_ptr<PagedHnsw> hnsw_;
  std::atomic<int> writers_ = 4;
};

TEST_F(HnswConcurrency, OnTwoThreads) {
  const auto thread = [&](NodeId first, bool vacuums) {
    std::vector<std::function<void(PageFetcher&)>> fibers;
    for (NodeId i = first; i < first + 2; ++i) {
      fibers.emplace_back([this, i](PageFetcher& fetcher) { write(fetcher, i); });
      fibers.emplace_back([this, i](PageFetcher& fetcher) { search(fetcher, i); });
    }
    if (vacuums) fibers.emplace_back([this](PageFetcher& fetcher) { vacuum(fetcher); });
    run_fibers(*hnsw_, fibers);
  };
  std::thread other(thread, 0, true);
  thread(2, false);
  other.join();
  expect_sound(*hnsw_, kFirst);
  const auto there = [](NodeId id) { return id >= 4 * kEach && id < kFirst + 4 * kEach; };
  EXPECT_GT(recall_of(*hnsw_, rows_, queries_, 40, there), 0.9);
}

}  // namespace
}  // namespace farvec::paged
