#include "search/search_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "indexing/graph_recipe.h"
#include "search/index_loader.h"
#include "tests/unit/search/scripted_endpoint.h"
#include "tests/unit/search/task_list_feed.h"
#include "tests/unit/temporary_folder.h"
#include "transport/emulated/device.h"
#include "transport/emulated/emulated_endpoint.h"
#include "transport/faulty/faulty_endpoint.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::search {
namespace {

constexpr std::uint32_t kDimension = 24;
constexpr std::size_t kCount = 2000;
constexpr std::uint32_t kDegree = 16;

/// A graph index of seeded bytes, its region in memory.
class SmallIndex {
 public:
  explicit SmallIndex(bool record_checksum = false) {
    Random random(3);
    for (std::size_t i = 0; i < kCount * kDimension; ++i) {
      rows_.push_back(static_cast<std::uint8_t>(random.below(64) + 3 * (i / kDimension % 7)));
    }
    const VectorView view = packed_view(rows_.data(), kCount, kDimension, ElementType::u8);
    graph::VamanaOptions options;
    options.degree = kDegree;
    options.list = 40;
    options.quiet = true;
    const indexing::BuiltGraph built = indexing::build_graph(
        {indexing::describe_source({"small.u8bin", "small"}, view, Metric::l2), view}, options);
    const tests::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "index";
    indexing::write_graph(path, built, {layout::LayoutKind::csr, 4, record_checksum},
                          {.threads = 1, .quiet = true});
    const auto directory = layout::IndexDirectory::open(path);
    const layout::LoadOptions load{.threads = 1, .quiet = true};
    region_ = directory.load_region(layout::kRecordsRegion, load);
    index_ = std::make_unique<SearchIndex>(load_search_index(directory, load));
  }

  const SearchIndex& index() const { return *index_; }
  std::span<const std::byte> region() const { return region_.span(); }
  const std::byte* query(std::size_t i) const {
    return reinterpret_cast<const std::byte*>(rows_.data()) + i * kDimension;
  }
  std::unique_ptr<transport::Endpoint> endpoint(std::uint32_t max_outstanding = 1024) const {
    transport::RegionSet set;
    set.push_back(transport::MappedRegion::borrow(region_.span()));
    return std::make_unique<transport::MappedEndpoint>(
        std::make_shared<const transport::RegionSet>(std::move(set)),
        transport::MappedOptions{.max_outstanding = max_outstanding});
  }

 private:
  std::vector<std::uint8_t> rows_;
  HugeBuffer region_;
  std::unique_ptr<SearchIndex> index_;
};

SearchParameters of_width(std::uint32_t width) {
  return SearchParameters::make(10, GraphChoice{.list = 30, .width = width}).value();
}

class ListFeed : public TaskListFeed {
 public:
  ListFeed(const SmallIndex& index, std::size_t count, double deadline_us = 5e6)
      : TaskListFeed(count, deadline_us) {
    for (std::size_t i = 0; i < count; ++i) {
      tasks()[i].query = index.query(i);
      tasks()[i].parameters = of_width(1);
    }
  }
};

SearchCoreOptions with_slots(std::uint32_t slots) {
  SearchCoreOptions options;
  options.slots = slots;
  return options;
}

void expect_same(const ListFeed::Task& a, const ListFeed::Task& b) {
  ASSERT_TRUE(a.status.ok() && b.status.ok());
  ASSERT_EQ(a.found, b.found);
  EXPECT_TRUE(std::equal(a.id_room, a.id_room + a.found, b.id_room));
  EXPECT_TRUE(std::equal(a.distance_room, a.distance_room + a.found, b.distance_room));
  EXPECT_EQ(a.counts.hops, b.counts.hops);
  EXPECT_EQ(a.counts.estimates, b.counts.estimates);
  EXPECT_EQ(a.counts.distances, b.counts.distances);
}

TEST(SearchCore, EveryTierAndNumberOfSlotsGivesTheSameAnswersAndCounts) {
  const SmallIndex small;
  ListFeed reference(small, 60);
  make_core(small.index(), small.region(), with_slots(1))->run(reference);
  EXPECT_EQ(reference.tasks()[7].id_room[0], 7u) << "a row's nearest neighbour is itself";

  auto device = std::make_shared<transport::Device>(transport::parse_device_model("rdma"));
  auto near = std::make_shared<transport::Device>(transport::parse_device_model("cxl"));
  const std::vector<std::function<std::unique_ptr<SearchCore>()>> makers = {
      [&] { return make_core(small.index(), small.region(), with_slots(8)); },
      [&] { return make_core(small.index(), small.endpoint(), with_slots(5)); },
      [&] {
        SearchCoreOptions options = with_slots(4);
        options.device = near;
        return make_core(small.index(), small.region(), options);
      },
      [&] {
        return make_core(small.index(),
                         std::make_unique<transport::EmulatedEndpoint>(small.endpoint(), device),
                         with_slots(16));
      },
      [&] {
        SearchCoreOptions options = with_slots(3);
        options.cache_bytes = 64 << 10;
        return make_core(small.index(), small.endpoint(), options);
      }};
  for (const auto& make : makers) {
    ListFeed feed(small, 60);
    make()->run(feed);
    EXPECT_EQ(feed.done_count(), 60u);
    for (std::size_t i = 0; i < 60; ++i) expect_same(feed.tasks()[i], reference.tasks()[i]);
  }
}

/// While one fiber waits for room to post its reads, others put their records into the cache.
TEST(SearchCore, ASmallCacheUnderAFullEndpointChangesNoAnswer) {
  const SmallIndex index;
  ListFeed feed(index, 300);
  ListFeed expected(index, 300);
  for (ListFeed* each : {&feed, &expected}) {
    for (auto& task : each->tasks()) task.parameters = of_width(8);
  }
  make_core(index.index(), index.region(), with_slots(1))->run(expected);
  SearchCoreOptions options = with_slots(32);
  options.cache_bytes = 16 * 1024;
  const auto core = make_core(index.index(), index.endpoint(8), options);
  core->run(feed);
  EXPECT_GT(core->statistics().stalls, 0u);
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < feed.tasks().size(); ++i) {
    ASSERT_TRUE(feed.tasks()[i].status.ok()) << feed.tasks()[i].status.message();
    // Cached records are visited first, so that estimates may come in another order and number.
    EXPECT_TRUE(std::equal(feed.tasks()[i].id_room, feed.tasks()[i].id_room + feed.tasks()[i].found,
                           expected.tasks()[i].id_room));
    hits += feed.tasks()[i].counts.cache_hits;
  }
  EXPECT_GT(hits, 0u);
}

TEST(SearchCore, RefusesRecordsThatOneReadCannotBring) {
  const SmallIndex small;
  transport::RegionSet set;
  set.push_back(transport::MappedRegion::borrow(small.region()));
  const auto regions = std::make_shared<const transport::RegionSet>(std::move(set));
  const transport::MappedOptions narrow{.max_read_bytes = kDimension};
  EXPECT_THROW(
      make_core(small.index(), std::make_unique<transport::MappedEndpoint>(regions, narrow),
                with_slots(1)),
      Error);
}

TEST(SearchCore, CountsAddUp) {
  const SmallIndex small;
  ListFeed feed(small, 20);
  for (auto& task : feed.tasks()) task.parameters = of_width(4);
  SearchCoreOptions options = with_slots(2);
  options.cache_bytes = 100 << 10;
  const auto core = make_core(small.index(), small.endpoint(), options);
  core->run(feed);
  std::uint64_t hits = 0;
  for (const auto& task : feed.tasks()) {
    EXPECT_EQ(task.counts.reads + task.counts.cache_hits, task.counts.distances);
    EXPECT_LE(task.counts.hops, task.counts.distances);
    EXPECT_LE(task.counts.bytes, task.counts.reads * (kDimension + 4 * kDegree));
    hits += task.counts.cache_hits;
  }
  EXPECT_GT(hits, 0u);
  EXPECT_EQ(core->statistics().in_flight_reads, 0u);
  EXPECT_EQ(core->statistics().live_searches, 0u);
}

TEST(SearchCore, RefusesTasksThatDoNotFit) {
  const SmallIndex small;
  ListFeed feed(small, 3);
  const GraphChoice longest{.list = 5000};
  feed.tasks()[0].parameters = SearchParameters::make(kCount + 1, longest).value();
  feed.tasks()[1].parameters = SearchParameters::make(10, longest).value();
  feed.tasks()[2].parameters = SearchParameters::make(10, ProbeChoice{.clusters = 3}).value();
  make_core(small.index(), small.region(), with_slots(2))->run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::invalid_argument), 3u);
}

ListFeed run_faulty(const SmallIndex& small, transport::FaultOptions faults,
                    double deadline_us = 5e6) {
  ListFeed feed(small, 40, deadline_us);
  const auto core = make_core(small.index(),
                              std::make_unique<transport::FaultyEndpoint>(small.endpoint(), faults),
                              with_slots(4));
  core->run(feed);
  EXPECT_EQ(feed.done_count(), 40u) << "no search is lost";
  return feed;
}

TEST(SearchCoreFaults, DelaysAndRefusedPostsChangeNothing) {
  const SmallIndex small;
  ListFeed reference(small, 40);
  make_core(small.index(), small.region(), with_slots(1))->run(reference);
  transport::FaultOptions faults;
  faults.delay_rate = 0.2;
  faults.delay_polls = 7;
  faults.post_rate = 0.1;
  ListFeed feed = run_faulty(small, faults);
  for (std::size_t i = 0; i < 40; ++i) expect_same(feed.tasks()[i], reference.tasks()[i]);
}

TEST(SearchCoreFaults, DeadPeerEndsEverySearchAsUnavailable) {
  const SmallIndex small;
  transport::FaultOptions faults;
  faults.dead_from_read = 300;
  const ListFeed feed = run_faulty(small, faults);
  EXPECT_GT(feed.count_status(StatusCode::ok), 0u);
  EXPECT_GT(feed.count_status(StatusCode::unavailable), 0u);
  EXPECT_EQ(feed.count_status(StatusCode::ok) + feed.count_status(StatusCode::unavailable), 40u);
}

TEST(SearchCoreFaults, ShortReadIsDataLoss) {
  const SmallIndex small;
  transport::FaultOptions faults;
  faults.short_rate = 0.01;
  const ListFeed feed = run_faulty(small, faults);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  EXPECT_EQ(feed.count_status(StatusCode::ok) + feed.count_status(StatusCode::data_loss), 40u);
}

TEST(SearchCoreFaults, FlippedBitIsCaughtByTheRecordChecksum) {
  const SmallIndex small(true);
  ListFeed reference(small, 40);
  make_core(small.index(), small.region(), with_slots(1))->run(reference);
  transport::FaultOptions faults;
  faults.flip_rate = 0.01;
  ListFeed feed = run_faulty(small, faults);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  for (std::size_t i = 0; i < 40; ++i) {
    if (!feed.tasks()[i].status.ok()) continue;
    expect_same(feed.tasks()[i], reference.tasks()[i]);
  }
}

TEST(SearchCoreFaults, DroppedReadsEndAtTheDeadlineAndFreeTheSlot) {
  const SmallIndex small;
  transport::FaultOptions faults;
  faults.drop_rate = 0.01;
  const ListFeed feed = run_faulty(small, faults, 20'000);
  EXPECT_GT(feed.count_status(StatusCode::deadline_exceeded), 0u);
  EXPECT_GT(feed.count_status(StatusCode::ok), 0u);
}

TEST(SearchCoreFaults, ASlowNearDeviceEndsSearchesAtTheirDeadline) {
  const SmallIndex small;
  SearchCoreOptions options = with_slots(4);
  options.device =
      std::make_shared<transport::Device>(transport::DeviceModel{"few", 0.5, 10, 1e-5, 64});
  ListFeed feed(small, 40, 50'000);
  make_core(small.index(), small.region(), options)->run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::deadline_exceeded), 40u);
}

/// Every search gives up while reads are out; their buffers come back when the reads do.
TEST(SearchCoreFaults, LateReadsGiveTheirBuffersBack) {
  const SmallIndex small;
  const auto device =
      std::make_shared<transport::Device>(transport::DeviceModel{"slow", 2000, 10, 50, 64});
  const auto core = make_core(
      small.index(), std::make_unique<transport::EmulatedEndpoint>(small.endpoint(), device),
      with_slots(4));
  ListFeed hasty(small, 300, 500);
  core->run(hasty);
  EXPECT_EQ(hasty.count_status(StatusCode::deadline_exceeded), 300u);
  EXPECT_GT(core->statistics().late_completions, 64u);
  ListFeed patient(small, 1);
  core->run(patient);
  EXPECT_EQ(patient.count_status(StatusCode::ok), 1u);
}

/// Reads that never come back: the core ends every search and itself, instead of failing for ever.
TEST(SearchCoreFaults, ReadsThatNeverComeEndTheCore) {
  const SmallIndex small;
  transport::FaultOptions faults;
  faults.drop_rate = 1;
  const auto core = make_core(small.index(),
                              std::make_unique<transport::FaultyEndpoint>(small.endpoint(), faults),
                              with_slots(8));
  ListFeed feed(small, 1000, 1000);
  EXPECT_THROW(core->run(feed), Error);
  EXPECT_EQ(
      feed.count_status(StatusCode::deadline_exceeded) + feed.count_status(StatusCode::unavailable),
      feed.done_count());
  EXPECT_LT(feed.done_count(), 200u);
}

/// Hops that are posted in pieces, of which some are not taken: what a lane's buffer still has of
/// the hop before must not pass for the records that did not come.
TEST(SearchCoreFaults, APartialSearchScoresOnlyWhatCame) {
  const SmallIndex small;
  const auto distance = distance::pair_kernel(Metric::l2, ElementType::u8, kDimension);
  for (const std::uint32_t max_outstanding : {8u, 1024u}) {
    Script script;
    script.absent = [](std::size_t post) { return post % 41 == 40; };
    ListFeed feed(small, 200);
    for (auto& task : feed.tasks()) {
      task.partial = true;
      task.parameters = of_width(16);
    }
    const auto core = make_core(
        small.index(), std::make_unique<ScriptedEndpoint>(small.endpoint(max_outstanding), script),
        with_slots(4));
    core->run(feed);
    std::uint64_t lost = 0;
    for (const auto& task : feed.tasks()) {
      lost += task.counts.lost;
      ASSERT_TRUE(task.status.ok() || task.status.code() == StatusCode::unavailable)
          << task.status.message();
      for (std::uint32_t i = 0; i < task.found; ++i) {
        ASSERT_EQ(task.distance_room[i],
                  distance(task.query, small.query(task.id_room[i]), kDimension));
      }
    }
    EXPECT_EQ(lost > 0, max_outstanding == 8) << "only pieces of a hop are lost";
  }
}

TEST(SearchCoreFaults, FailedReadEndsOneSearch) {
  const SmallIndex small;
  transport::FaultOptions faults;
  faults.failing_read = 50;
  const ListFeed feed = run_faulty(small, faults);
  EXPECT_EQ(feed.count_status(StatusCode::internal), 1u);
  EXPECT_EQ(feed.count_status(StatusCode::ok), 39u);
}

}  // namespace
}  // namespace farvec::search
