#include "search/core/core_part.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/unit/search/cluster_fixture.h"
#include "tests/unit/search/graph_fixture.h"
#include "tests/unit/search/part_fixture.h"

namespace farvec::search {
namespace {

constexpr std::uint32_t kPartSlots = 3;
constexpr std::size_t kTasks = 30;
constexpr ClusterLayoutKind kKind = ClusterLayoutKind::grouped;

TEST(CorePart, SeveralShareAScheduler) {
  const SmallGraph small;
  const SmallClusters& clusters = small_clusters();
  coroutines::Scheduler scheduler({kPartSlots});
  const std::unique_ptr<CorePart> parts[] = {
      make_part(small.index(), small.region(), graph_core_options(kPartSlots), scheduler),
      make_part(small.index(), small.endpoint(), graph_core_options(kPartSlots), scheduler),
      make_part(clusters.index(kKind), clusters.region(kKind), with_slots(kPartSlots), scheduler),
      make_part(clusters.index(kKind), clusters.endpoint(kKind), with_slots(kPartSlots),
                scheduler)};
  scheduler.set_poller([&] { return poll_all(parts); });
  GraphFeed graphs[] = {GraphFeed(small, kTasks), GraphFeed(small, kTasks)};
  const ProbeChoice choice{.clusters = 6};
  Feed probes[] = {Feed(clusters, kTasks, choice), Feed(clusters, kTasks, choice)};
  for (std::uint32_t slot = 0; slot < kPartSlots; ++slot) {
    ASSERT_TRUE(scheduler
                    .spawn([&, slot] {
                      for (std::size_t i = slot; i < kTasks; i += kPartSlots) {
                        search_now(*parts[0], slot, graphs[0].tasks()[i]);
                        search_now(*parts[1], slot, graphs[1].tasks()[i]);
                        search_now(*parts[2], slot, probes[0].tasks()[i]);
                        search_now(*parts[3], slot, probes[1].tasks()[i]);
                      }
                    })
                    .ok());
  }
  scheduler.run();
  GraphFeed expected(small, kTasks);
  make_core(small.index(), small.region(), graph_core_options(1))->run(expected);
  for (std::size_t i = 0; i < kTasks; ++i) {
    for (GraphFeed& feed : graphs) expect_same_search(feed.tasks()[i], expected.tasks()[i]);
    for (Feed& feed : probes) {
      expect_answer(feed.tasks()[i], nearest_members(clusters, feed.tasks()[i]));
    }
  }
  for (const auto& part : parts) {
    EXPECT_EQ(part->slots(), kPartSlots);
    EXPECT_EQ(part->statistics().in_flight_reads, 0u);
    EXPECT_GT(part->statistics().dram_bytes, 0u);
  }
}

TEST(CorePart, LeavesNothingOfATasksSearchBefore) {
  const SmallGraph small;
  coroutines::Scheduler scheduler({1});
  const auto part = make_part(small.index(), small.region(), graph_core_options(1), scheduler);
  GraphFeed feed(small, 2);
  SearchTask& task = feed.tasks()[0];
  SearchTask& once = feed.tasks()[1];
  once.request.query = task.request.query;
  ASSERT_TRUE(scheduler
                  .spawn([&] {
                    search_now(*part, 0, once);
                    search_now(*part, 0, task);
                    search_now(*part, 0, task);
                  })
                  .ok());
  scheduler.run();
  EXPECT_EQ(task.answer.counts.hops, once.answer.counts.hops);
  EXPECT_EQ(task.answer.counts.reads, once.answer.counts.reads);
  task.request.parameters =
      SearchParameters::make(kGraphCount + 1, GraphChoice{.list = kGraphCount + 1}).value();
  ASSERT_TRUE(scheduler.spawn([&] { search_now(*part, 0, task); }).ok());
  scheduler.run();
  EXPECT_EQ(task.answer.status.code(), StatusCode::invalid_argument);
  EXPECT_EQ(task.answer.found, 0u);
  EXPECT_EQ(task.answer.counts.hops, 0u);
}

/// It says so once, and searches of another part go on.
TEST(CorePart, ALostSourceIsItsOwnAffair) {
  const SmallGraph small;
  transport::FaultOptions faults;
  faults.drop_rate = 1;
  coroutines::Scheduler scheduler({1});
  const std::unique_ptr<CorePart> parts[] = {
      make_part(small.index(),
                std::make_unique<transport::FaultyEndpoint>(small.endpoint(), faults),
                graph_core_options(1), scheduler),
      make_part(small.index(), small.endpoint(), graph_core_options(1), scheduler)};
  std::vector<std::string> errors;
  scheduler.set_poller([&] {
    try {
      return poll_all(parts);
    } catch (const Error& error) {
      errors.emplace_back(error.what());
      return true;
    }
  });
  GraphFeed feed(small, 2);
  SearchTask& lost = feed.tasks()[0];
  SearchTask& sound = feed.tasks()[1];
  ASSERT_TRUE(scheduler
                  .spawn([&] {
                    constexpr int kMost = 1000;
                    for (int i = 0;
                         i < kMost && lost.answer.status.code() != StatusCode::unavailable; ++i) {
                      search_now(*parts[0], 0, lost, 500);
                    }
                    for (int i = 0; i < 3; ++i) {
                      scheduler.yield();
                      search_now(*parts[0], 0, lost, 500);
                    }
                    search_now(*parts[1], 0, sound);
                  })
                  .ok());
  scheduler.run();
  EXPECT_EQ(lost.answer.status.code(), StatusCode::unavailable);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("do not come back"), std::string::npos) << errors[0];
  EXPECT_TRUE(sound.answer.status.ok()) << sound.answer.status.message();
}

}  // namespace
}  // namespace farvec::search
