#include "search/core/search_core.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"
#include "tests/unit/search/graph_fixture.h"
#include "tests/unit/search/scripted_endpoint.h"
#include "transport/emulated/device.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::search {
namespace {

TEST(SearchCore, RefusesRecordsThatOneReadCannotBring) {
  const SmallGraph small;
  transport::RegionSet set;
  set.push_back(transport::MappedRegion::borrow(small.region()));
  const auto regions = std::make_shared<const transport::RegionSet>(std::move(set));
  const transport::MappedOptions narrow{.max_read_bytes = kGraphDimension};
  EXPECT_THROW(
      make_core(small.index(), std::make_unique<transport::MappedEndpoint>(regions, narrow),
                graph_core_options(1)),
      Error);
}

TEST(SearchCore, RefusesTasksThatDoNotFit) {
  const SmallGraph small;
  GraphFeed feed(small, 3);
  const GraphChoice longest{.list = 5000};
  feed.tasks()[0].request.parameters = SearchParameters::make(kGraphCount + 1, longest).value();
  feed.tasks()[1].request.parameters = SearchParameters::make(10, longest).value();
  feed.tasks()[2].request.parameters =
      SearchParameters::make(10, ProbeChoice{.clusters = 3}).value();
  make_core(small.index(), small.region(), graph_core_options(2))->run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::invalid_argument), 3u);
}

/// Gives up when it is asked for the `at`-th time.
class GivesUp final : public SearchCaller {
 public:
  explicit GivesUp(std::uint32_t at) : at_(at) {}
  bool gave_up() const override { return ++asked_ >= at_; }

 private:
  const std::uint32_t at_;
  mutable std::uint32_t asked_ = 0;
};

TEST(SearchCore, EndsSoonAfterItsCallerHasGivenUp) {
  const SmallGraph small;
  GraphFeed feed(small, 3);
  const GivesUp at_once(1);
  const GivesUp later(3);
  const GivesUp never(1'000'000);
  const SearchCaller* const callers[]{&at_once, &later, &never};
  for (std::size_t i = 0; i < 3; ++i) {
    feed.tasks()[i].request.caller = callers[i];
    feed.tasks()[i].request.parameters =
        SearchParameters::make(10, GraphChoice{.list = 100, .width = 1}).value();
  }
  make_core(small.index(), small.region(), graph_core_options(2))->run(feed);
  // It asks at each sixteenth read.
  const auto& tasks = feed.tasks();
  EXPECT_EQ(tasks[0].answer.status.code(), StatusCode::cancelled);
  EXPECT_EQ(tasks[0].answer.counts.reads, 16u);
  EXPECT_EQ(tasks[1].answer.status.code(), StatusCode::cancelled);
  EXPECT_EQ(tasks[1].answer.counts.reads, 48u);
  EXPECT_TRUE(tasks[2].answer.status.ok());
  EXPECT_GE(tasks[2].answer.counts.reads, 100u);
}

TEST(SearchCore, EndsBeforeTheNextReadWhenItsCallerHasGivenUp) {
  const SmallGraph small;
  GraphFeed feed(small, 2);
  const GivesUp later(6);
  const GivesUp never(1'000'000);
  feed.tasks()[0].request.caller = &later;
  feed.tasks()[1].request.caller = &never;
  make_core(small.index(), small.endpoint(), graph_core_options(2))->run(feed);
  EXPECT_EQ(feed.tasks()[0].answer.status.code(), StatusCode::cancelled);
  EXPECT_EQ(feed.tasks()[0].answer.counts.reads, 5u);
  EXPECT_TRUE(feed.tasks()[1].answer.status.ok());
}

TEST(SearchCore, AScanOfAllRowsEndsSoonAfterItsCallerHasGivenUp) {
  const SmallGraph small;
  GraphFeed feed(small, 1);
  const GivesUp later(4);
  feed.tasks()[0].request.caller = &later;
  feed.tasks()[0].request.exact = true;
  make_core(small.index(), small.region(), graph_core_options(1))->run(feed);
  EXPECT_EQ(feed.tasks()[0].answer.status.code(), StatusCode::cancelled);
  EXPECT_LT(feed.tasks()[0].answer.counts.reads, kGraphCount / 4);
}

TEST(SearchCoreFaults, DelaysAndRefusedPostsChangeNothing) {
  const SmallGraph small;
  GraphFeed reference(small, 40);
  make_core(small.index(), small.region(), graph_core_options(1))->run(reference);
  transport::FaultOptions faults;
  faults.delay_rate = 0.2;
  faults.delay_polls = 7;
  faults.post_rate = 0.1;
  GraphFeed feed = run_faulty(small, faults);
  for (std::size_t i = 0; i < 40; ++i) expect_same_search(feed.tasks()[i], reference.tasks()[i]);
}

TEST(SearchCoreFaults, DeadPeerEndsEverySearchAsUnavailable) {
  const SmallGraph small;
  transport::FaultOptions faults;
  faults.dead_from_read = 300;
  const GraphFeed feed = run_faulty(small, faults);
  EXPECT_GT(feed.count_status(StatusCode::ok), 0u);
  EXPECT_GT(feed.count_status(StatusCode::unavailable), 0u);
  EXPECT_EQ(feed.count_status(StatusCode::ok) + feed.count_status(StatusCode::unavailable), 40u);
}

TEST(SearchCoreFaults, ShortReadIsDataLoss) {
  const SmallGraph small;
  transport::FaultOptions faults;
  faults.short_rate = 0.01;
  const GraphFeed feed = run_faulty(small, faults);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  EXPECT_EQ(feed.count_status(StatusCode::ok) + feed.count_status(StatusCode::data_loss), 40u);
}

TEST(SearchCoreFaults, DroppedReadsEndAtTheDeadlineAndFreeTheSlot) {
  const SmallGraph small;
  transport::FaultOptions faults;
  faults.drop_rate = 0.01;
  const GraphFeed feed = run_faulty(small, faults, 20'000);
  EXPECT_GT(feed.count_status(StatusCode::deadline_exceeded), 0u);
  EXPECT_GT(feed.count_status(StatusCode::ok), 0u);
}

TEST(SearchCoreFaults, ASlowNearDeviceEndsSearchesAtTheirDeadline) {
  const SmallGraph small;
  SearchCoreOptions options = graph_core_options(4);
  options.device =
      std::make_shared<transport::Device>(transport::DeviceModel{"few", 0.5, 10, 1e-5, 64});
  GraphFeed feed(small, 40, 50'000);
  make_core(small.index(), small.region(), options)->run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::deadline_exceeded), 40u);
}

/// Every search gives up while reads are out; their buffers come back when the reads do.
TEST(SearchCoreFaults, LateReadsGiveTheirBuffersBack) {
  const SmallGraph small;
  const auto device =
      std::make_shared<transport::Device>(transport::DeviceModel{"slow", 2000, 10, 50, 64});
  const auto core = make_core(
      small.index(), std::make_unique<transport::EmulatedEndpoint>(small.endpoint(), device),
      graph_core_options(4));
  GraphFeed hasty(small, 300, 500);
  core->run(hasty);
  EXPECT_EQ(hasty.count_status(StatusCode::deadline_exceeded), 300u);
  EXPECT_GT(core->statistics().late_completions, 64u);
  GraphFeed patient(small, 1);
  core->run(patient);
  EXPECT_EQ(patient.count_status(StatusCode::ok), 1u);
}

/// Reads that never come back: the core ends every search and itself, instead of failing for ever.
TEST(SearchCoreFaults, ReadsThatNeverComeEndTheCore) {
  const SmallGraph small;
  transport::FaultOptions faults;
  faults.drop_rate = 1;
  const auto core = make_core(small.index(),
                              std::make_unique<transport::FaultyEndpoint>(small.endpoint(), faults),
                              graph_core_options(8));
  GraphFeed feed(small, 1000, 1000);
  EXPECT_THROW(core->run(feed), Error);
  EXPECT_EQ(
      feed.count_status(StatusCode::deadline_exceeded) + feed.count_status(StatusCode::unavailable),
      feed.done_count());
  EXPECT_LT(feed.done_count(), 200u);
}

/// Hops that are posted in pieces, of which some are not taken: what a lane's buffer still has of
/// the hop before must not pass for the records that did not come.
TEST(SearchCoreFaults, APartialSearchScoresOnlyWhatCame) {
  const SmallGraph small;
  const auto distance = distance::pair_kernel(Metric::l2, ElementType::u8, kGraphDimension);
  for (const std::uint32_t max_outstanding : {8u, 1024u}) {
    Script script;
    script.absent = [](std::size_t post) { return post % 41 == 40; };
    GraphFeed feed(small, 200);
    for (auto& task : feed.tasks()) {
      task.request.partial = true;
      task.request.parameters = graph_of_width(16);
    }
    const auto core = make_core(
        small.index(), std::make_unique<ScriptedEndpoint>(small.endpoint(max_outstanding), script),
        graph_core_options(4));
    core->run(feed);
    std::uint64_t lost = 0;
    for (const auto& task : feed.tasks()) {
      lost += task.answer.counts.lost;
      ASSERT_TRUE(task.answer.status.ok() || task.answer.status.code() == StatusCode::unavailable)
          << task.answer.status.message();
      for (std::uint32_t i = 0; i < task.answer.found; ++i) {
        ASSERT_EQ(task.distance_room[i],
                  distance(task.request.query, small.query(task.id_room[i]), kGraphDimension));
      }
    }
    EXPECT_EQ(lost > 0, max_outstanding == 8) << "only pieces of a hop are lost";
  }
}

TEST(SearchCoreFaults, FailedReadEndsOneSearch) {
  const SmallGraph small;
  transport::FaultOptions faults;
  faults.failing_read = 50;
  const GraphFeed feed = run_faulty(small, faults);
  EXPECT_EQ(feed.count_status(StatusCode::internal), 1u);
  EXPECT_EQ(feed.count_status(StatusCode::ok), 39u);
}

}  // namespace
}  // namespace farvec::search
