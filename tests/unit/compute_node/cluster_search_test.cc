#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/random.h"
#include "cluster/clustering.h"
#include "cluster/grouping.h"
#include "compute_node/index_loader.h"
#include "compute_node/probe_counts.h"
#include "compute_node/search_core.h"
#include "layout/cluster_writer.h"
#include "tests/unit/temporary_folder.h"
#include "transport/emulated/emulated_endpoint.h"
#include "transport/faulty/faulty_endpoint.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::compute_node {
namespace {

using layout::ClusterLayoutKind;

constexpr std::uint32_t kDimension = 21;
constexpr std::size_t kCount = 3000;
constexpr std::uint32_t kClusters = 60;

/// Seeded bytes in clusters, in every layout, on disk and in memory.
class SmallClusters {
 public:
  explicit SmallClusters(bool record_checksum = false) {
    Random random(3);
    for (std::size_t i = 0; i < kCount * kDimension; ++i) {
      rows_.push_back(static_cast<std::uint8_t>(random.below(64) + 23 * (i / kDimension % 7)));
    }
    const VectorView view = packed_view(rows_.data(), kCount, kDimension, ElementType::u8);
    cluster::ClusteringOptions options;
    options.clusters = kClusters;
    options.replicas = 4;
    options.quiet = true;
    clustering_ = cluster::build_clusters(view, Metric::l2, options);
    const graph::Graph graph =
        cluster::build_centroid_graph(clustering_.centroids, kDimension, 1, 1);
    const auto homes = cluster::group_by_frequency(clustering_.membership(), {}, 1);
    for (const ClusterLayoutKind kind : layout::kClusterLayouts) {
      layout::Manifest manifest;
      manifest.source_type = ElementType::u8;
      manifest.cluster.kind = kind;
      manifest.cluster_build = {4, 1.2, 1.5, 0, 1};
      manifest.dataset = {"small", "small.u8bin", kDimension, kCount, 0};
      layout::write_cluster_index(
          path(kind), manifest, {clustering_.membership(), homes, view, kClusters, record_checksum},
          {clustering_.centroids, kDimension, graph.view()}, {.threads = 1, .quiet = true});
      const auto directory = layout::IndexDirectory::open(path(kind));
      indexes_.emplace(kind, load_search_index(directory, {.threads = 1, .quiet = true}));
      regions_.emplace(
          kind, directory.load_region(layout::kRecordsRegion, {.threads = 1, .quiet = true}));
    }
  }

  std::filesystem::path path(ClusterLayoutKind kind) const {
    return folder_.path() / std::string(to_string(kind));
  }
  const SearchIndex& index(ClusterLayoutKind kind) const { return indexes_.at(kind); }
  std::span<const std::byte> region(ClusterLayoutKind kind) const {
    return regions_.at(kind).span();
  }
  std::span<std::byte> mutable_region(ClusterLayoutKind kind) { return regions_.at(kind).span(); }
  const std::byte* row(std::size_t i) const {
    return reinterpret_cast<const std::byte*>(rows_.data()) + i * kDimension;
  }
  MembershipView membership() const { return clustering_.membership(); }

  std::unique_ptr<transport::Endpoint> endpoint(ClusterLayoutKind kind,
                                                transport::MappedOptions options = {}) const {
    transport::RegionSet set;
    set.push_back(transport::MappedRegion::borrow(region(kind)));
    return std::make_unique<transport::MappedEndpoint>(
        std::make_shared<const transport::RegionSet>(std::move(set)), options);
  }

 private:
  tests::TemporaryFolder folder_;
  std::vector<std::uint8_t> rows_;
  cluster::Clustering clustering_;
  std::map<ClusterLayoutKind, SearchIndex> indexes_;
  std::map<ClusterLayoutKind, HugeBuffer> regions_;
};

const SmallClusters& small_clusters() {
  static const SmallClusters clusters;
  return clusters;
}

/// Feeds tasks 0, 1, ... and keeps them.
class Feed : public TaskFeed {
 public:
  struct Task : SearchTask {
    NodeId id_room[40];
    float distance_room[40];
  };

  Feed(const SmallClusters& clusters, std::size_t count, ProbeChoice probing,
       double deadline_us = 5e6)
      : tasks_(count), deadline_(us_to_ticks(deadline_us)) {
    for (std::size_t i = 0; i < count; ++i) {
      tasks_[i].query = clusters.row(i * 7);
      tasks_[i].k = 10;
      tasks_[i].probing = probing;
      tasks_[i].ids = tasks_[i].id_room;
      tasks_[i].distances = tasks_[i].distance_room;
    }
  }

  SearchTask* next() override {
    if (given_ == tasks_.size()) return nullptr;
    tasks_[given_].deadline = now_ticks() + deadline_;
    return &tasks_[given_++];
  }
  bool finished() override { return given_ == tasks_.size(); }
  void done(SearchTask&) override { ++done_; }
  void idle() override {}

  std::vector<Task>& tasks() { return tasks_; }
  std::size_t done_count() const { return done_; }
  std::size_t count_status(StatusCode code) const {
    return static_cast<std::size_t>(std::count_if(
        tasks_.begin(), tasks_.end(), [&](const Task& t) { return t.status.code() == code; }));
  }

 private:
  std::vector<Task> tasks_;
  const Ticks deadline_;
  std::size_t given_ = 0;
  std::size_t done_ = 0;
};

SearchCoreOptions with_slots(std::uint32_t slots, std::optional<std::uint32_t> gap = {}) {
  SearchCoreOptions options;
  options.slots = slots;
  options.merge_gap_bytes = gap;
  return options;
}

/// The k nearest of the members of the clusters that a search of `clusters` probes.
std::vector<graph::Neighbor> nearest_members(const SmallClusters& small, const Feed::Task& task) {
  const ClusterIndex& index = *small.index(ClusterLayoutKind::grouped).clusters();
  cluster::CentroidScratch scratch;
  index.centroids().search(task.query, task.probing.clusters, scratch);
  std::set<ClusterId> probed;
  for (const auto& near : scratch.found) probed.insert(near.cluster);
  const auto kernel = distance::pair_kernel(Metric::l2, ElementType::u8, kDimension);
  std::vector<graph::Neighbor> all;
  for (std::size_t v = 0; v < kCount; ++v) {
    const auto own = small.membership().of(v);
    if (std::none_of(own.begin(), own.end(), [&](ClusterId c) { return probed.contains(c); })) {
      continue;
    }
    all.push_back({static_cast<NodeId>(v), kernel(task.query, small.row(v), kDimension)});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  });
  all.resize(std::min<std::size_t>(all.size(), task.k));
  return all;
}

void expect_answer(const Feed::Task& task, const std::vector<graph::Neighbor>& expected) {
  ASSERT_TRUE(task.status.ok()) << task.status.message();
  ASSERT_EQ(task.found, expected.size());
  for (std::uint32_t i = 0; i < task.found; ++i) {
    EXPECT_EQ(task.id_room[i], expected[i].id) << i;
    EXPECT_EQ(task.distance_room[i], expected[i].distance) << i;
  }
}

class ClusterSearch : public testing::TestWithParam<ClusterLayoutKind> {};

TEST_P(ClusterSearch, EveryTierFindsTheNearestMembersOfTheProbedClusters) {
  const SmallClusters& small = small_clusters();
  const SearchIndex& index = small.index(GetParam());
  auto far = std::make_shared<transport::Device>(transport::parse_device_model("rdma"));
  auto near = std::make_shared<transport::Device>(transport::parse_device_model("nvm"));
  const std::vector<std::function<SearchCore()>> makers = {
      [&] { return SearchCore(index, small.region(GetParam()), with_slots(1)); },
      [&] { return SearchCore(index, small.region(GetParam()), with_slots(3, 50)); },
      [&] { return SearchCore(index, small.endpoint(GetParam()), with_slots(5, 0)); },
      [&] {
        return SearchCore(index, small.endpoint(GetParam(), {.max_outstanding = 7}),
                          with_slots(4, 100));
      },
      [&] {
        SearchCoreOptions options = with_slots(4, 25);
        options.device = near;
        return SearchCore(index, small.region(GetParam()), options);
      },
      [&] {
        return SearchCore(index,
                          std::make_unique<transport::EmulatedEndpoint>(
                              small.endpoint(GetParam(), {.by_reference = true}), far),
                          with_slots(8, 250));
      }};
  for (const bool dedup : {true, false}) {
    for (const auto& make : makers) {
      Feed feed(small, 40, {.clusters = 6, .dedup = dedup});
      SearchCore core = make();
      core.run(feed);
      EXPECT_EQ(feed.done_count(), 40u);
      for (const auto& task : feed.tasks()) {
        expect_answer(task, nearest_members(small, task));
        EXPECT_EQ(task.counts.clusters, 6u);
        EXPECT_EQ(task.counts.reads,
                  task.counts.group_reads + task.counts.list_reads + task.counts.stray_reads);
      }
      EXPECT_EQ(core.statistics().in_flight_reads, 0u);
    }
  }
}

TEST_P(ClusterSearch, ProbesMoreClustersForTheSakeOfK) {
  const SmallClusters& small = small_clusters();
  Feed feed(small, 20, {.clusters = 1});
  // Of one cluster there are fewer than 40 members or not: every answer must have 40 all the same.
  for (auto& task : feed.tasks()) task.k = 40;
  SearchCore(small.index(GetParam()), small.endpoint(GetParam()), with_slots(2, 0)).run(feed);
  for (const auto& task : feed.tasks()) {
    ASSERT_TRUE(task.status.ok());
    EXPECT_EQ(task.found, 40u);
    std::set<NodeId> ids(task.id_room, task.id_room + task.found);
    EXPECT_EQ(ids.size(), 40u) << "nobody twice";
  }
}

TEST_P(ClusterSearch, LeavesOutFarClusters) {
  const SmallClusters& small = small_clusters();
  Feed all(small, 20, {.clusters = 20});
  Feed few(small, 20, {.clusters = 20, .prune_ratio = 1.0f});
  for (Feed* feed : {&all, &few}) {
    SearchCore(small.index(GetParam()), small.region(GetParam()), with_slots(2)).run(*feed);
  }
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(all.tasks()[i].counts.clusters, 20u);
    EXPECT_LT(few.tasks()[i].counts.clusters, 20u);
    EXPECT_EQ(few.tasks()[i].found, 10u);
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
  for (auto& task : feed.tasks()) task.partial = partial;
  SearchCore core(small.index(kind),
                  std::make_unique<transport::FaultyEndpoint>(small.endpoint(kind), faults),
                  with_slots(4, 0));
  core.run(feed);
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

TEST_P(ClusterSearch, APartialSearchDoesWithoutAPeerThatDied) {
  transport::FaultOptions faults;
  faults.dead_from_read = 100;
  Feed feed = run_faulty(small_clusters(), GetParam(), faults, true);
  std::uint64_t lost = 0;
  for (const auto& task : feed.tasks()) lost += task.counts.lost;
  EXPECT_GT(lost, 0u);
}

TEST_P(ClusterSearch, AFlippedBitIsCaughtByTheRecordChecksum) {
  static const SmallClusters small(true);
  transport::FaultOptions faults;
  faults.flip_rate = 0.02;
  Feed feed = run_faulty(small, GetParam(), faults);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  for (const auto& task : feed.tasks()) {
    if (task.status.ok()) expect_answer(task, nearest_members(small, task));
  }
}

TEST_P(ClusterSearch, DroppedReadsEndAtTheDeadline) {
  const SmallClusters& small = small_clusters();
  transport::FaultOptions faults;
  faults.drop_rate = 0.001;
  Feed feed(small, 40, probing(6), 20'000);
  SearchCore core(small.index(GetParam()),
                  std::make_unique<transport::FaultyEndpoint>(small.endpoint(GetParam()), faults),
                  with_slots(4, 0));
  core.run(feed);
  EXPECT_EQ(feed.done_count(), 40u);
  EXPECT_EQ(feed.count_status(StatusCode::ok) + feed.count_status(StatusCode::deadline_exceeded),
            40u);
}

TEST_P(ClusterSearch, RefusesTasksThatDoNotFit) {
  const SmallClusters& small = small_clusters();
  Feed feed(small, 4, probing(3));
  feed.tasks()[0].k = 0;
  feed.tasks()[1].k = kCount + 1;
  feed.tasks()[2].probing.clusters = 0;
  feed.tasks()[3].probing.clusters = 5000;
  SearchCore(small.index(GetParam()), small.region(GetParam()), with_slots(2)).run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::invalid_argument), 4u);
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
    SearchCore(small.index(ClusterLayoutKind::grouped), small.endpoint(ClusterLayoutKind::grouped),
               with_slots(2))
        .run(feed);
    for (const auto& task : feed.tasks()) {
      (dedup ? with : without) += task.counts.stray_reads;
      EXPECT_EQ(task.counts.group_reads, 8u);
      if (dedup) {
        EXPECT_GE(task.counts.distances, task.counts.stray_reads);
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
  SearchCore(small.index(ClusterLayoutKind::coupled), small.region(ClusterLayoutKind::coupled),
             options)
      .run(feed);
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
  SearchCore(small.index(kind), small.region(kind), with_slots(2)).run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::data_loss), 5u);
}

}  // namespace
}  // namespace farvec::compute_node
