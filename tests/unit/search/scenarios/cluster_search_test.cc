#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "search/searchers/probe_counts.h"
#include "tests/unit/search/cluster_fixture.h"
#include "tests/unit/search/scripted_endpoint.h"
#include "transport/emulated/emulated_endpoint.h"
#include "transport/faulty/faulty_endpoint.h"

namespace farvec::search {
namespace {

class ClusterSearch : public testing::TestWithParam<ClusterLayoutKind> {};

TEST_P(ClusterSearch, EveryTierFindsTheNearestMembersOfTheProbedClusters) {
  const SmallClusters& small = small_clusters();
  const SearchIndex& index = small.index(GetParam());
  auto far = std::make_shared<transport::Device>(transport::parse_device_model("rdma"));
  auto near = std::make_shared<transport::Device>(transport::parse_device_model("nvm"));
  const std::vector<std::function<std::unique_ptr<SearchCore>()>> makers = {
      [&] { return make_core(index, small.region(GetParam()), with_slots(1)); },
      [&] { return make_core(index, small.region(GetParam()), with_slots(3, 50)); },
      [&] { return make_core(index, small.endpoint(GetParam()), with_slots(5, 0)); },
      [&] {
        return make_core(index, small.endpoint(GetParam(), {.max_outstanding = 7}),
                         with_slots(4, 100));
      },
      [&] {
        SearchCoreOptions options = with_slots(4, 25);
        options.device = near;
        return make_core(index, small.region(GetParam()), options);
      },
      [&] {
        return make_core(index,
                         std::make_unique<transport::EmulatedEndpoint>(
                             small.endpoint(GetParam(), {.by_reference = true}), far),
                         with_slots(8, 250));
      }};
  for (const bool dedup : {true, false}) {
    for (const auto& make : makers) {
      Feed feed(small, 40, {.clusters = 6, .dedup = dedup});
      const auto core = make();
      core->run(feed);
      EXPECT_EQ(feed.done_count(), 40u);
      for (const auto& task : feed.tasks()) {
        expect_answer(task, nearest_members(small, task));
        EXPECT_EQ(task.answer.counts.clusters, 6u);
        EXPECT_EQ(task.answer.counts.reads, task.answer.counts.group_reads +
                                                task.answer.counts.list_reads +
                                                task.answer.counts.stray_reads);
      }
      EXPECT_EQ(core->statistics().in_flight_reads, 0u);
    }
  }
}

TEST_P(ClusterSearch, ProbesMoreClustersForTheSakeOfK) {
  const SmallClusters& small = small_clusters();
  Feed feed(small, 20, {.clusters = 1});
  // One cluster may have fewer than 40 members. Every answer must have 40 all the same.
  for (auto& task : feed.tasks()) {
    task.request.parameters = SearchParameters::make(40, ProbeChoice{.clusters = 1}).value();
  }
  make_core(small.index(GetParam()), small.endpoint(GetParam()), with_slots(2, 0))->run(feed);
  for (const auto& task : feed.tasks()) {
    ASSERT_TRUE(task.answer.status.ok());
    EXPECT_EQ(task.answer.found, 40u);
    std::set<NodeId> ids(task.id_room, task.id_room + task.answer.found);
    EXPECT_EQ(ids.size(), 40u) << "nobody twice";
  }
}

TEST_P(ClusterSearch, LeavesOutFarClusters) {
  const SmallClusters& small = small_clusters();
  Feed all(small, 20, {.clusters = 20});
  Feed few(small, 20, {.clusters = 20, .prune_ratio = 1.0f});
  for (Feed* feed : {&all, &few}) {
    make_core(small.index(GetParam()), small.region(GetParam()), with_slots(2))->run(*feed);
  }
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(all.tasks()[i].answer.counts.clusters, 20u);
    EXPECT_LT(few.tasks()[i].answer.counts.clusters, 20u);
    EXPECT_EQ(few.tasks()[i].answer.found, 10u);
  }
}

ProbeChoice probing(std::uint32_t clusters) {
  ProbeChoice choice;
  choice.clusters = clusters;
  return choice;
}

Feed run_faulty(const SmallClusters& small, ClusterLayoutKind kind, transport::FaultOptions faults,
                bool partial = false) {
  Feed feed(small, 40, probing(6));
  for (auto& task : feed.tasks()) task.request.partial = partial;
  const auto core = make_core(
      small.index(kind), std::make_unique<transport::FaultyEndpoint>(small.endpoint(kind), faults),
      with_slots(4, 0));
  core->run(feed);
  EXPECT_EQ(feed.done_count(), 40u) << "no search is lost";
  return feed;
}

TEST_P(ClusterSearch, DelaysAndRefusedPostsChangeNothing) {
  const SmallClusters& small = small_clusters();
  transport::FaultOptions faults;
  faults.delay_rate = 0.2;
  faults.delay_polls = 7;
  faults.post_rate = 0.1;
  Feed feed = run_faulty(small, GetParam(), faults);
  for (const auto& task : feed.tasks()) expect_answer(task, nearest_members(small, task));
}

TEST_P(ClusterSearch, AShortReadIsDataLoss) {
  transport::FaultOptions faults;
  faults.short_rate = 0.02;
  const Feed feed = run_faulty(small_clusters(), GetParam(), faults);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  EXPECT_EQ(feed.count_status(StatusCode::ok) + feed.count_status(StatusCode::data_loss), 40u);
}

TEST_P(ClusterSearch, ADeadPeerEndsEverySearchAsUnavailable) {
  transport::FaultOptions faults;
  faults.dead_from_read = 100;
  const Feed feed = run_faulty(small_clusters(), GetParam(), faults);
  EXPECT_GT(feed.count_status(StatusCode::unavailable), 0u);
  EXPECT_EQ(feed.count_status(StatusCode::ok) + feed.count_status(StatusCode::unavailable), 40u);
}

void expect_distances_of_ids(const SmallClusters& small, const Feed::Task& task) {
  const auto distance = distance::pair_kernel(Metric::l2, ElementType::u8, kDimension);
  for (std::uint32_t i = 0; i < task.answer.found; ++i) {
    ASSERT_EQ(task.distance_room[i],
              distance(task.request.query, small.row(task.id_room[i]), kDimension));
  }
}

TEST_P(ClusterSearch, APartialSearchDoesWithoutAPeerThatDied) {
  transport::FaultOptions faults;
  faults.dead_from_read = 100;
  Feed feed = run_faulty(small_clusters(), GetParam(), faults, true);
  std::uint64_t lost = 0;
  for (const auto& task : feed.tasks()) {
    lost += task.answer.counts.lost;
    expect_distances_of_ids(small_clusters(), task);
  }
  EXPECT_GT(lost, 0u);
}

/// Rounds that are posted in pieces, of which some are not taken: what a lane's buffer still has of
/// the round before must not pass for the lists and vectors that did not come.
TEST_P(ClusterSearch, APartialSearchScoresOnlyWhatCame) {
  const SmallClusters& small = small_clusters();
  for (const bool by_reference : {false, true}) {
    for (const bool dedup : {true, false}) {
      Feed feed(small, 200, {.clusters = 20, .dedup = dedup});
      for (auto& task : feed.tasks()) task.request.partial = true;
      Script script;
      script.absent = [](std::size_t post) { return post % 41 == 40; };
      auto below = small.endpoint(GetParam(), {.max_outstanding = 8, .by_reference = by_reference});
      const auto core =
          make_core(small.index(GetParam()),
                    std::make_unique<ScriptedEndpoint>(std::move(below), script), with_slots(4));
      core->run(feed);
      std::uint64_t lost = 0;
      for (const auto& task : feed.tasks()) {
        lost += task.answer.counts.lost;
        ASSERT_TRUE(task.answer.status.ok() || task.answer.status.code() == StatusCode::unavailable)
            << task.answer.status.message();
        expect_distances_of_ids(small, task);
        std::set<NodeId> ids(task.id_room, task.id_room + task.answer.found);
        ASSERT_EQ(ids.size(), task.answer.found) << "nobody twice";
      }
      EXPECT_GT(lost, 0u);
    }
  }
}

TEST_P(ClusterSearch, AFlippedBitIsCaughtByTheRecordChecksum) {
  static const SmallClusters small(true);
  transport::FaultOptions faults;
  faults.flip_rate = 0.02;
  Feed feed = run_faulty(small, GetParam(), faults);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  for (const auto& task : feed.tasks()) {
    if (task.answer.status.ok()) expect_answer(task, nearest_members(small, task));
  }
}

TEST_P(ClusterSearch, DroppedReadsEndAtTheDeadline) {
  const SmallClusters& small = small_clusters();
  transport::FaultOptions faults;
  faults.drop_rate = 0.001;
  Feed feed(small, 40, probing(6), 20'000);
  const auto core =
      make_core(small.index(GetParam()),
                std::make_unique<transport::FaultyEndpoint>(small.endpoint(GetParam()), faults),
                with_slots(4, 0));
  core->run(feed);
  EXPECT_EQ(feed.done_count(), 40u);
  EXPECT_EQ(feed.count_status(StatusCode::ok) + feed.count_status(StatusCode::deadline_exceeded),
            40u);
}

TEST_P(ClusterSearch, RefusesClustersThatOneReadCannotBring) {
  const SmallClusters& small = small_clusters();
  const layout::ClusterLocator& locator = small.index(GetParam()).clusters()->locator();
  std::uint64_t longest = 0;
  for (ClusterId c = 0; c < kClusters; ++c) {
    longest =
        std::max({longest, locator.list(c).bytes, locator.group(c).bytes, locator.whole(c).bytes});
  }
  const auto core = [&](std::uint64_t read_bytes) {
    const transport::MappedOptions options{.max_read_bytes =
                                               static_cast<std::uint32_t>(read_bytes)};
    return make_core(small.index(GetParam()), small.endpoint(GetParam(), options), with_slots(1));
  };
  EXPECT_NO_THROW((void)core(longest));
  try {
    (void)core(longest - 1);
    ADD_FAILURE() << "a core whose searches would all fail";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("build more clusters"), std::string::npos);
  }
}

TEST_P(ClusterSearch, RefusesTasksThatDoNotFit) {
  const SmallClusters& small = small_clusters();
  Feed feed(small, 3, probing(3));
  feed.tasks()[0].request.parameters = SearchParameters::make(kCount + 1, probing(3)).value();
  feed.tasks()[1].request.parameters = SearchParameters::make(10, probing(5000)).value();
  feed.tasks()[2].request.parameters = SearchParameters::make(10, GraphChoice{.list = 30}).value();
  make_core(small.index(GetParam()), small.region(GetParam()), with_slots(2))->run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::invalid_argument), 3u);
}

INSTANTIATE_TEST_SUITE_P(Layouts, ClusterSearch, testing::ValuesIn(layout::kClusterLayouts),
                         [](const auto& kind) {
                           std::string name(layout::to_string(kind.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(ClusterSearchCounts, DedupReadsEveryVectorOnce) {
  const SmallClusters& small = small_clusters();
  std::uint64_t with = 0;
  std::uint64_t without = 0;
  for (const bool dedup : {true, false}) {
    Feed feed(small, 30, {.clusters = 8, .dedup = dedup});
    make_core(small.index(ClusterLayoutKind::grouped), small.endpoint(ClusterLayoutKind::grouped),
              with_slots(2))
        ->run(feed);
    for (const auto& task : feed.tasks()) {
      (dedup ? with : without) += task.answer.counts.stray_reads;
      EXPECT_EQ(task.answer.counts.group_reads, 8u);
      if (dedup) {
        EXPECT_GE(task.answer.counts.distances, task.answer.counts.stray_reads);
      }
    }
  }
  EXPECT_LT(with, without);
}

TEST(ClusterSearchCounts, ProbesAreCountedAndKept) {
  const SmallClusters& small = small_clusters();
  SearchCoreOptions options = with_slots(2);
  const auto manifest = layout::IndexDirectory::open(small.path(ClusterLayoutKind::coupled));
  options.probe_counts = std::make_shared<ProbeCounts>(manifest.manifest());
  Feed feed(small, 30, probing(5));
  make_core(small.index(ClusterLayoutKind::coupled), small.region(ClusterLayoutKind::coupled),
            options)
      ->run(feed);
  const ProbeTally tally = options.probe_counts->tally();
  ASSERT_EQ(tally.counts.size(), kClusters);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : tally.counts) sum += count;
  EXPECT_EQ(sum, 30u * 5u);

  const tests::TemporaryFolder folder;
  const std::string file = (folder.path() / "probes.json").string();
  write_probe_counts(file, tally);
  // Another layout of the same clusters.
  const auto grouped = layout::IndexDirectory::open(small.path(ClusterLayoutKind::grouped));
  EXPECT_EQ(read_probe_counts(file, grouped.manifest()), tally.counts);
  layout::Manifest other = grouped.manifest();
  other.regions[layout::kCentroidsRegion].checksums[0] ^= 1;
  EXPECT_THROW((void)read_probe_counts(file, other), Error);
}

/// One cluster of 4 GiB and a little; what its records would be nobody reads.
SearchIndex hugest_cluster() {
  constexpr std::uint32_t kWide = kMaxDimension;
  layout::ClusterGeometry geometry;
  geometry.kind = ClusterLayoutKind::grouped;
  geometry.vector_bytes = kWide * sizeof(float);
  geometry.clusters = 1;
  geometry.count = geometry.members = (std::uint64_t{1} << 32) / geometry.record_bytes() + 1;
  HugeBuffer table(sizeof(layout::ClusterEntry));
  const layout::ClusterEntry entry{
      layout::kRegionHeaderBytes,
      layout::kRegionHeaderBytes + geometry.count * geometry.record_bytes(),
      static_cast<std::uint32_t>(geometry.count), 0};
  std::memcpy(table.data(), &entry, sizeof(entry));
  layout::ClusterLocator locator(geometry, std::move(table), 0, entry.list_offset);
  std::vector<float> centroids(kWide);
  graph::Graph graph = cluster::build_centroid_graph(centroids, kWide, {});
  cluster::CentroidIndex index(
      {Metric::l2, ElementType::f32, kWide, kWide, std::move(centroids), std::move(graph)});
  return SearchIndex(
      ClusterIndex({Metric::l2, ElementType::f32, kWide, std::move(locator), std::move(index)}));
}

/// The length of a read has 32 bits: cut to them, it would be of the cluster's first bytes.
TEST(ClusterSearchLimits, ACoreIsNotBuiltForAClusterOfFourGigabytes) {
  const SearchIndex index = hugest_cluster();
  transport::RegionSet none;
  auto endpoint = std::make_unique<transport::MappedEndpoint>(
      std::make_shared<const transport::RegionSet>(std::move(none)),
      transport::MappedOptions{.max_read_bytes = ~0u});
  EXPECT_THROW(make_core(index, std::move(endpoint), with_slots(1)), Error);
}

TEST(ClusterSearchDamage, ARecordOfNoVectorIsDataLoss) {
  SmallClusters small;
  const auto kind = ClusterLayoutKind::grouped;
  const auto& locator = small.index(kind).clusters()->locator();
  for (ClusterId c = 0; c < kClusters; ++c) {
    const layout::ByteRange group = locator.group(c);
    for (std::uint64_t at = group.offset; at < group.offset + group.bytes;
         at += locator.geometry().record_bytes()) {
      store_unaligned(small.mutable_region(kind).data() + at + kDimension, NodeId{kCount + 5});
    }
  }
  Feed feed(small, 5, probing(4));
  make_core(small.index(kind), small.region(kind), with_slots(2))->run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::data_loss), 5u);
}

}  // namespace
}  // namespace farvec::search
