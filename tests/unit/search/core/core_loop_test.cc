#include "search/core/core_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "coroutines/wait_group.h"
#include "tests/unit/search/task_list_feed.h"

namespace farvec::search {
namespace {

/// Searches that end once its source is lost, which the poller finds out.
class LostPart final : public CorePart {
 public:
  LostPart(std::uint32_t slots, coroutines::Scheduler& scheduler)
      : slots_(slots), scheduler_(scheduler) {}

  std::uint32_t slots() const override { return slots_; }
  Status search(std::uint32_t, const SearchRequest&, SearchAnswer&) override {
    while (!lost_) scheduler_.yield();
    return {StatusCode::unavailable, "lost"};
  }
  bool poll() override {
    if (lost_) return false;
    lost_ = true;
    throw Error("the source is lost");
  }
  CoreStatistics statistics() const override { return {.stalls = 7, .live_searches = 99}; }

 private:
  const std::uint32_t slots_;
  coroutines::Scheduler& scheduler_;
  bool lost_ = false;
};

/// Searches whose helpers are more than the fibers that one turn of the scheduler runs.
class CrowdedPart final : public CorePart {
 public:
  CrowdedPart(std::uint32_t slots, coroutines::Scheduler& scheduler)
      : slots_(slots), scheduler_(scheduler) {}

  static constexpr std::uint32_t kHelpers = 40;

  std::uint32_t slots() const override { return slots_; }
  Status search(std::uint32_t, const SearchRequest&, SearchAnswer&) override {
    coroutines::WaitGroup helpers(scheduler_);
    for (std::uint32_t h = 0; h < kHelpers; ++h) {
      helpers.add();
      const Status status = scheduler_.spawn([&] {
        scheduler_.yield();
        helpers.done();
      });
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return helpers.wait();
  }
  bool poll() override { return false; }
  CoreStatistics statistics() const override { return {}; }

 private:
  const std::uint32_t slots_;
  coroutines::Scheduler& scheduler_;
};

/// Has a task only every third time, so that fibers wait for one.
class HesitantFeed final : public TaskListFeed {
 public:
  explicit HesitantFeed(std::size_t count) : TaskListFeed(count, 5e6) {}
  SearchTask* next() override { return ++asked_ % 3 == 0 ? TaskListFeed::next() : nullptr; }

 private:
  std::size_t asked_ = 0;
};

/// Looks at the core whenever a search is done.
class WatchingFeed final : public TaskListFeed {
 public:
  explicit WatchingFeed(std::size_t count) : TaskListFeed(count, 5e6) {}
  void done(SearchTask& task) override {
    TaskListFeed::done(task);
    most_live = std::max(most_live, core->statistics().live_searches);
  }

  const SearchCore* core = nullptr;
  std::uint32_t most_live = 0;
};

constexpr std::uint32_t kLoopSlots = 4;

std::unique_ptr<SearchCore> lost_core() {
  return std::make_unique<CoreLoop>(CoreFibers{kLoopSlots}, [](coroutines::Scheduler& scheduler) {
    return std::make_unique<LostPart>(kLoopSlots, scheduler);
  });
}

TEST(CoreLoop, EndsEverySearchAndItselfWhenItsSourceIsLost) {
  const auto core = lost_core();
  WatchingFeed feed(100);
  feed.core = core.get();
  EXPECT_THROW(core->run(feed), Error);
  EXPECT_EQ(feed.done_count(), kLoopSlots) << "no search is lost, and none begins after it";
  EXPECT_EQ(feed.count_status(StatusCode::unavailable), kLoopSlots);
  EXPECT_EQ(feed.most_live, kLoopSlots - 1) << "the others, while one is done";
}

TEST(CoreLoop, CanBeRunAgain) {
  const auto core = lost_core();
  WatchingFeed first(100);
  first.core = core.get();
  EXPECT_THROW(core->run(first), Error);
  WatchingFeed second(100);
  second.core = core.get();
  core->run(second);
  EXPECT_EQ(second.done_count(), 100u);
}

TEST(CoreLoop, LosesNoTaskWhenATurnEndsBeforeTheFiberThatIsToTakeIt) {
  CoreLoop core({kLoopSlots, kLoopSlots * CrowdedPart::kHelpers},
                [](coroutines::Scheduler& scheduler) {
                  return std::make_unique<CrowdedPart>(kLoopSlots, scheduler);
                });
  HesitantFeed feed(100);
  core.run(feed);
  EXPECT_EQ(feed.done_count(), 100u);
}

/// Takes every fiber that there is for its first searches, and tells how many ran at once.
class GreedyPart final : public CorePart {
 public:
  GreedyPart(coroutines::Scheduler& scheduler, std::uint32_t& most)
      : scheduler_(scheduler), most_(most) {}

  std::uint32_t slots() const override { return kLoopSlots; }
  Status search(std::uint32_t, const SearchRequest&, SearchAnswer&) override {
    most_ = std::max(most_, ++live_);
    coroutines::WaitGroup helpers(scheduler_);
    bool spare = searches_++ < kGreedy;
    while (spare) {
      helpers.add();
      spare = scheduler_
                  .spawn([&] {
                    scheduler_.yield();
                    helpers.done();
                  })
                  .ok();
      if (!spare) helpers.done();
    }
    const Status status = helpers.wait();
    scheduler_.yield();
    --live_;
    return status;
  }
  bool poll() override { return false; }
  CoreStatistics statistics() const override { return {}; }

 private:
  static constexpr std::uint32_t kGreedy = 3;

  coroutines::Scheduler& scheduler_;
  std::uint32_t& most_;
  std::uint32_t searches_ = 0;
  std::uint32_t live_ = 0;
};

TEST(CoreLoop, ASlotWhoseFiberAHelperHasGetsOneLater) {
  std::uint32_t most = 0;
  CoreLoop core({kLoopSlots, kLoopSlots}, [&](coroutines::Scheduler& scheduler) {
    return std::make_unique<GreedyPart>(scheduler, most);
  });
  TaskListFeed feed(100, 5e6);
  core.run(feed);
  EXPECT_EQ(feed.done_count(), 100u);
  EXPECT_EQ(feed.count_status(StatusCode::ok), 100u);
  EXPECT_EQ(most, kLoopSlots) << "all slots have a fiber in the end";
}

/// Answers at once, and counts how often it is asked.
class CountingPart final : public CorePart {
 public:
  explicit CountingPart(std::uint32_t& searches) : searches_(searches) {}

  std::uint32_t slots() const override { return 1; }
  Status search(std::uint32_t, const SearchRequest&, SearchAnswer& answer) override {
    ++searches_;
    answer.found = 1;
    return {};
  }
  bool poll() override { return false; }
  CoreStatistics statistics() const override { return {}; }

 private:
  std::uint32_t& searches_;
};

TEST(CoreLoop, BeginsNoSearchAfterItsDeadline) {
  std::uint32_t searches = 0;
  CoreLoop core({1},
                [&](coroutines::Scheduler&) { return std::make_unique<CountingPart>(searches); });
  TaskListFeed late(3, -1);
  for (auto& task : late.tasks()) {
    task.answer.found = 7;  // left from an earlier search
    task.answer.counts.hops = 7;
  }
  core.run(late);
  EXPECT_EQ(searches, 0u);
  EXPECT_EQ(late.count_status(StatusCode::deadline_exceeded), 3u);
  for (const auto& task : late.tasks()) {
    EXPECT_EQ(task.answer.found, 0u);
    EXPECT_EQ(task.answer.counts.hops, 0u);
    EXPECT_GE(task.clock.finished, task.clock.started);
  }
  TaskListFeed in_time(3, 5e6);
  core.run(in_time);
  EXPECT_EQ(searches, 3u);
  EXPECT_EQ(in_time.count_status(StatusCode::ok), 3u);
}

TEST(CoreLoop, CountsItsSearchesItself) {
  const auto core = lost_core();
  EXPECT_EQ(core->statistics().live_searches, 0u);
  EXPECT_EQ(core->statistics().stalls, 7u);
}

TEST(CoreLoop, PassesOnWhatThePartCannotBeMadeFor) {
  const auto make = [](coroutines::Scheduler&) -> std::unique_ptr<CorePart> {
    throw Error("no such part");
  };
  EXPECT_THROW(CoreLoop(CoreFibers{kLoopSlots}, make), Error);
}

}  // namespace
}  // namespace farvec::search
