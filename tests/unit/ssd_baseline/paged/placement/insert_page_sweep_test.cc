#include "ssd_baseline/paged/placement/insert_page_sweep.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "ssd_baseline/paged/change/hnsw_vacuum.h"
#include "ssd_baseline/paged/graph/check.h"
#include "ssd_baseline/paged/placement/partition_share.h"
#include "tests/unit/ssd_baseline/paged/colocated_graph.h"

namespace farvec::paged {
namespace {

using namespace colocated;
using layout::kNoPage;

constexpr std::uint32_t kTen = 10;

HnswVacuumCounts vacuum(Colocated& graph, PageFetcher& fetcher) {
  HnswVacuum vacuum(graph.hnsw(), fetcher);
  for (int steps = 0; steps < 100'000; ++steps) {
    const auto more = vacuum.step(kForever);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more.ok() || !more.value()) break;
  }
  return vacuum.done();
}

/// What the map counts of all partitions.
std::uint64_t counted(Colocated& graph, PageFetcher& fetcher) {
  std::uint64_t sum = 0;
  for (std::uint32_t p = 0; p < graph.chosen().size(); ++p) {
    const layout::PartitionEntry entry = graph.entry(fetcher, p);
    sum += entry.received;
    sum += entry.wished;
  }
  return sum;
}

TEST(InsertPageSweep, TakesPagesFromPartitionsThatReceiveNothingAnyMore) {
  Colocated graph(600, 0, kAnyShare);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto enough = static_cast<int>(wishes_for_a_page(graph.hnsw().shape()));
    Stream stream(graph, fetcher);
    for (std::uint32_t p = 0; p < kTen; ++p) stream.insert(p, enough + 3);
    EXPECT_EQ(graph.state(fetcher).insert_pages, kTen);
    EXPECT_EQ(stream.counts().given, kTen);
    EXPECT_EQ(stream.counts().placed, kTen * 4);
    EXPECT_EQ(stream.counts().fallback, kTen * (enough - 1));
    const std::vector<PageNumber> first = graph.insert_pages(fetcher);

    // Four each have come; six each would tell who receives.
    EXPECT_EQ(counted(graph, fetcher), kTen * 4);
    EXPECT_EQ(vacuum(graph, fetcher).insert_pages_taken, 0u);
    EXPECT_EQ(counted(graph, fetcher), kTen * 4);
    for (std::uint32_t p = 0; p < kTen; ++p) stream.insert(p, 2);
    EXPECT_EQ(vacuum(graph, fetcher).insert_pages_taken, 0u);
    EXPECT_EQ(counted(graph, fetcher), 0u);
    EXPECT_EQ(graph.insert_pages(fetcher), first);

    // Now ten others get all inserts.
    for (std::uint32_t p = kTen; p < 2 * kTen; ++p) stream.insert(p, enough + 6);
    EXPECT_EQ(graph.state(fetcher).insert_pages, 2 * kTen);
    EXPECT_EQ(counted(graph, fetcher), kTen * 7);
    EXPECT_EQ(vacuum(graph, fetcher).insert_pages_taken, 0u);  // 140 would tell
    for (std::uint32_t p = kTen; p < 2 * kTen; ++p) stream.insert(p, 5);
    std::size_t with_room = 0;
    for (std::uint32_t p = 0; p < kTen; ++p) with_room += graph.has_room(fetcher, first[p], 0);
    const std::vector<PageNumber> second = graph.insert_pages(fetcher);
    const HnswVacuumCounts done = vacuum(graph, fetcher);
    EXPECT_EQ(done.insert_pages_taken, kTen);
    EXPECT_EQ(done.pages_freed, with_room);
    EXPECT_EQ(graph.state(fetcher).insert_pages, kTen);
    EXPECT_EQ(counted(graph, fetcher), 0u);
    for (std::uint32_t p = 0; p < graph.chosen().size(); ++p) {
      const bool kept = p >= kTen && p < 2 * kTen;
      EXPECT_EQ(graph.entry(fetcher, p).insert_page, kept ? second[p] : kNoPage) << p;
    }

    // Without inserts nothing is known; and what was taken is given again.
    EXPECT_EQ(vacuum(graph, fetcher).insert_pages_taken, 0u);
    stream.insert(0, enough);
    EXPECT_NE(graph.entry(fetcher, 0).insert_page, kNoPage);
    EXPECT_EQ(stream.counts().given, 2 * kTen + 1);
  });
  const HnswCheckReport report = check_hnsw(graph.hnsw());
  for (const auto& problem : report.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(report.insert_pages, kTen + 1);
}

TEST(InsertPageSweep, TakesNothingWhereTheShareDoesNotFollow) {
  Colocated graph(600, 0.5, 0);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const std::vector<PageNumber> first = graph.insert_pages(fetcher);
    Stream stream(graph, fetcher);
    const auto with_page = [&](bool wanted) {
      return static_cast<std::uint32_t>(std::ranges::find(graph.chosen(), wanted) -
                                        graph.chosen().begin());
    };
    stream.insert(with_page(false), 100);
    EXPECT_EQ(stream.counts().fallback, 100u);
    stream.insert(with_page(true), 500);
    EXPECT_EQ(stream.counts().placed, 500u);
    EXPECT_EQ(stream.counts().wished + stream.counts().given, 0u);
    EXPECT_EQ(counted(graph, fetcher), 0u);
    EXPECT_EQ(vacuum(graph, fetcher).insert_pages_taken, 0u);
    for (std::uint32_t p = 0; p < first.size(); ++p) {
      EXPECT_EQ(graph.entry(fetcher, p).insert_page != kNoPage, graph.chosen()[p]) << p;
    }
  });
  EXPECT_TRUE(check_hnsw(graph.hnsw()).ok());
}

TEST(InsertPageSweep, RefusesAMapThatNamesAnotherKindOfPage) {
  Colocated graph(600, 0, kAnyShare);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto enough = static_cast<int>(wishes_for_a_page(graph.hnsw().shape()));
    Stream stream(graph, fetcher);
    stream.insert(2, enough);
    stream.insert(5, 3 * enough);
    graph.damage_map(fetcher, 2, 0);  // the meta page
    HnswVacuum vacuum(graph.hnsw(), fetcher);
    Result<bool> more = true;
    while (more.ok() && more.value()) more = vacuum.step(kForever);
    EXPECT_EQ(more.status().code(), StatusCode::data_loss);
    EXPECT_EQ(vacuum.done().insert_pages_taken, 0u);
    EXPECT_EQ(graph.state(fetcher).insert_pages, 2u);
  });
}

TEST(InsertPageSweep, GivesAnEmptyPageToAnotherPartition) {
  Colocated graph(600, 0, kAnyShare);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto enough = static_cast<int>(wishes_for_a_page(graph.hnsw().shape()));
    Stream stream(graph, fetcher);
    stream.insert(2, enough - 1);
    // The page where everything else goes gets room for the wishes below.
    while (stream.writer().written().pages_added == 0) stream.insert_anywhere();
    const std::size_t first = stream.ids.size();
    stream.insert(2, 6);
    const PageNumber page = graph.entry(fetcher, 2).insert_page;
    for (std::size_t i = first; i < stream.ids.size(); ++i) {
      ASSERT_TRUE(stream.writer().mark_deleted(stream.ids[i], kForever).ok());
    }
    // The vertices go, and partition 2 keeps its empty page: it has received six.
    const HnswVacuumCounts vertices = vacuum(graph, fetcher);
    EXPECT_EQ(vertices.removed, 6u);
    EXPECT_EQ(vertices.insert_pages_taken, 0u);
    EXPECT_EQ(graph.entry(fetcher, 2), (layout::PartitionEntry{.insert_page = page}));
    EXPECT_EQ(graph.tag(fetcher, page), 2u + 1);
    // Others wish as often as it takes to tell.
    stream.insert(5, enough - 1);
    EXPECT_EQ(vacuum(graph, fetcher).insert_pages_taken, 0u);
    stream.insert(6, 1);
    EXPECT_EQ(vacuum(graph, fetcher).insert_pages_taken, 1u);
    EXPECT_EQ(graph.entry(fetcher, 2), layout::PartitionEntry{});
    EXPECT_EQ(graph.tag(fetcher, page), 0u);
    ASSERT_EQ(graph.state(fetcher).free_pages, page);

    const std::uint64_t added = stream.writer().written().pages_added;
    stream.insert(9, enough);
    EXPECT_EQ(graph.entry(fetcher, 9), (layout::PartitionEntry{page, 1, 0}));
    EXPECT_EQ(graph.tag(fetcher, page), 9u + 1);
    EXPECT_EQ(stream.writer().written().pages_added, added);
  });
  const HnswCheckReport report = check_hnsw(graph.hnsw());
  for (const auto& problem : report.problems) ADD_FAILURE() << problem;
}

TEST(InsertPageSweep, LeavesPagesToInsertsOfOtherThreads) {
  Colocated graph(600, 0.5, kAnyShare);
  const auto partitions = static_cast<std::uint32_t>(graph.chosen().size());
  std::atomic<int> at_work = 2;
  const auto insert = [&](NodeId first) {
    run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
      Stream stream(graph, fetcher, first);
      Random random(first);
      for (int i = 0; i < 300; ++i) {
        stream.insert(static_cast<std::uint32_t>(random.below(partitions / 3)) + (i / 150) * 5, 1);
      }
      EXPECT_EQ(stream.counts().placed + stream.counts().fallback, 300u);
    });
    --at_work;
  };
  std::uint64_t taken = 0;
  std::thread one(insert, 100'000);
  std::thread other(insert, 200'000);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    while (at_work > 0) taken += vacuum(graph, fetcher).insert_pages_taken;
  });
  one.join();
  other.join();
  EXPECT_GT(taken, 0u);
  const HnswCheckReport report = check_hnsw(graph.hnsw());
  for (const auto& problem : report.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(report.vertices, 1200u);
}

}  // namespace
}  // namespace farvec::paged
