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
  Status search(std::uint32_t, SearchTask&) override {
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
  Status search(std::uint32_t, SearchTask&) override {
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
