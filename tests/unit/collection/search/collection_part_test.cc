#include "collection/search/collection_part.h"

#include <gtest/gtest.h>

#include "coroutines/scheduler.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"

namespace farvec::collection {
namespace {

class CollectionParts : public ChangingCollection {
 protected:
  /// Two segments.
  void fill(const SegmentAccess& segments) {
    CollectionAccess access = small_access();
    access.segments = segments;
    access.merge = false;
    open(access);
    for (std::uint64_t id = 0; id < 80; id += 40) {
      insert_ids(id, id + 40);
      collection_->flush();
    }
  }
  std::ptrdiff_t folders() const {
    return std::distance(std::filesystem::directory_iterator(segments()), {});
  }
  /// By a fiber of the scheduler.
  void search(CollectionPart& part, coroutines::Scheduler& scheduler) {
    const std::vector<float> query = random_row(random_);
    std::vector<std::uint64_t> ids(10);
    std::vector<float> distances(10);
    search::SearchTask task;
    task.query = reinterpret_cast<const std::byte*>(query.data());
    task.parameters = search::SearchParameters::make(10, search::GraphChoice{.list = kAll}).value();
    task.deadline = now_ticks() + us_to_ticks(kPatienceUs);
    task.user_ids = ids.data();
    task.distances = distances.data();
    ASSERT_TRUE(scheduler.spawn([&] { task.status = part.search(0, task); }).ok());
    scheduler.run();
    EXPECT_TRUE(task.status.ok()) << task.status.message();
    EXPECT_EQ(task.found, 10u);
  }
};

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

}  // namespace
}  // namespace farvec::collection
