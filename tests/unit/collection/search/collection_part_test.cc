#include "collection/search/collection_part.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "coroutines/scheduler.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"

namespace farvec::collection {
namespace {

class CollectionParts : public ChangingCollection {
 protected:
  void fill(const SegmentAccess& access, std::uint64_t segments = 2, std::uint64_t rows = 40) {
    CollectionAccess all = small_access();
    all.segments = access;
    all.merge = false;
    open(all);
    for (std::uint64_t id = 0; id < segments * rows; id += rows) {
      insert_ids(id, id + rows);
      collection_->flush();
    }
  }
  std::ptrdiff_t folders() const {
    return std::distance(std::filesystem::directory_iterator(segments()), {});
  }
  /// Asks for the ten nearest, with a list that finds them.
  static void ask(search::SearchTask& task, const std::vector<float>& query) {
    task.request.query = reinterpret_cast<const std::byte*>(query.data());
    task.request.parameters =
        search::SearchParameters::make(10, search::GraphChoice{.list = kAll}).value();
  }
  /// By a fiber of the scheduler.
  void search(CollectionPart& part, coroutines::Scheduler& scheduler) {
    const std::vector<float> query = random_row(random_);
    std::vector<std::uint64_t> ids(10);
    std::vector<float> distances(10);
    search::SearchTask task;
    ask(task, query);
    task.request.deadline = now_ticks() + us_to_ticks(kPatienceUs);
    task.answer.ids = ids.data();
    task.answer.distances = distances.data();
    ASSERT_TRUE(
        scheduler.spawn([&] { task.answer.status = part.search(0, task.request, task.answer); })
            .ok());
    scheduler.run();
    EXPECT_TRUE(task.answer.status.ok()) << task.answer.status.message();
    EXPECT_EQ(task.answer.found, 10u);
  }
};

/// Searches of more segments than they have fibers for leave all slots theirs.
TEST_F(CollectionParts, ManySegmentsLeaveSlotsTheirFibers) {
  constexpr std::uint32_t kSlots = 3;  // as small_segments() has
  fill(small_segments(), 20, 4);
  ASSERT_EQ(collection_->view()->segments.size(), 20u);
  const std::vector<float> query = random_row(random_);
  search::TaskListFeed feed(50, kPatienceUs);
  for (search::SearchTask& task : feed.tasks()) ask(task, query);
  make_collection_core([&] { return collection_->view(); }, kSlots)->run(feed);
  const auto nearest = exact(rows_, Metric::l2, query);
  for (const search::SearchTask& task : feed.tasks()) {
    ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
    ASSERT_EQ(task.answer.found, 10u);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(task.answer.ids[i], nearest[i].second);
  }
}

/// A core that polls and does not search.
TEST_F(CollectionParts, AnIdleOneLetsGoOfSegmentsThatWereReplaced) {
  fill(small_segments());
  coroutines::Scheduler scheduler({8});
  CollectionPart part([&] { return collection_->view(); }, 1, scheduler);
  scheduler.set_poller([&] { return part.poll(); });
  search(part, scheduler);
  collection_->compact();
  EXPECT_TRUE(comes(
      [&] {
        (void)part.poll();
        return folders() == 1;
      },
      20e6));
  search(part, scheduler);
}

TEST_F(CollectionParts, WhatWasReplacedCountsStill) {
  SegmentAccess disk = SegmentAccess::on("ssd");
  disk.shape = small_segments().shape;
  fill(disk);
  coroutines::Scheduler scheduler({8});
  CollectionPart part([&] { return collection_->view(); }, 1, scheduler);
  scheduler.set_poller([&] { return part.poll(); });
  for (int i = 0; i < 20; ++i) search(part, scheduler);
  const search::CoreStatistics before = part.statistics();
  EXPECT_GT(before.device_reads, 0u);
  collection_->compact();
  search(part, scheduler);
  const search::CoreStatistics after = part.statistics();
  EXPECT_GT(after.device_reads, before.device_reads);
  EXPECT_GT(after.device_bytes, before.device_bytes);
  EXPECT_GE(after.stalls, before.stalls);
}

TEST_F(CollectionParts, ASearchOfManySegmentsHasAsManyFibersAsItMay) {
  fill(small_segments(), CollectionPart::kMostLegs + 5, 30);
  coroutines::Scheduler scheduler({.max_fibers = 64, .poll_interval = 1});
  CollectionPart part([&] { return collection_->view(); }, 1, scheduler);
  std::size_t most = 0;
  scheduler.set_poller([&] {
    most = std::max(most, scheduler.live_fibers());
    return part.poll();
  });
  search(part, scheduler);
  EXPECT_EQ(most, CollectionPart::kMostLegs);
}

}  // namespace
}  // namespace farvec::collection
