// Collections whose segments are clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "collection/read/collection_reader.h"
#include "collection/segment/segment_folder.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/collection/changing_collection.h"

namespace farvec::collection::of_clusters {
namespace {

constexpr std::uint32_t kMergeGap = 100;

class ClusterSegments : public ChangingCollection {
 protected:
  explicit ClusterSegments(const layout::CollectionManifest& shape = small_cluster_shape())
      : ChangingCollection(shape) {}

  const View::Bulk& only() const {
    EXPECT_EQ(collection_->view()->segments.size(), 1u);
    return collection_->view()->segments.front();
  }
  const layout::Manifest& manifest() const {
    return only().segment->folder().directory().manifest();
  }
};

class OneClusterSegment : public ClusterSegments,
                          public testing::WithParamInterface<layout::ClusterLayoutKind> {
 protected:
  OneClusterSegment() : ClusterSegments(small_cluster_shape(GetParam())) {}
};

/// As a core searches the segment's folder alone.
Answer search_index(const Segment& segment, const std::vector<float>& query, std::uint32_t k,
                    std::uint32_t probe) {
  const layout::IndexDirectory directory =
      layout::IndexDirectory::open(segment.folder().directory().path());
  const search::SearchIndex index = search::load_search_index(directory, {.quiet = true});
  const HugeBuffer region = directory.load_region(layout::kRecordsRegion, {.quiet = true});
  search::TaskListFeed feed(1, kPatienceUs);
  search::TaskListFeed::Task& task = feed.tasks().front();
  std::vector<std::uint64_t> rows(k);
  Answer answer{{}, std::vector<float>(k), {}};
  task.request.query = reinterpret_cast<const std::byte*>(query.data());
  task.request.parameters =
      search::SearchParameters::make(k, search::ProbeChoice{.clusters = probe}).value();
  task.answer.ids = rows.data();
  task.answer.distances = answer.distances.data();
  search::SearchCoreOptions options;
  options.merge_gap_bytes = kMergeGap;
  search::make_core(index, region.span(), options)->run(feed);
  EXPECT_TRUE(task.answer.status.ok()) << task.answer.status.message();
  for (std::uint32_t i = 0; i < task.answer.found; ++i) {
    answer.ids.push_back(segment.ids().of(rows[i]));
  }
  answer.distances.resize(task.answer.found);
  answer.counts = task.answer.counts;
  return answer;
}

TEST_P(OneClusterSegment, AnswersAndCountsAsThatIndex) {
  CollectionAccess access = small_access();
  access.segments.shape.merge_gap_bytes = kMergeGap;
  open(access);
  insert_ids(100, 145);
  collection_->flush();
  EXPECT_EQ(manifest().layout_name(), to_string(GetParam()));
  EXPECT_EQ(manifest().cluster().geometry.clusters, 15u);
  for (const std::uint32_t probe : {1u, 2u, 5u, 15u, 20u}) {
    for (const std::uint32_t k : {1u, 7u, 40u}) {
      const std::vector<float> query = random_row(random_);
      const Answer expected = search_index(*only().segment, query, k, probe);
      const Answer answer = search_view(collection_->view(), query, k, probe);
      EXPECT_EQ(answer.ids, expected.ids);
      EXPECT_EQ(answer.distances, expected.distances);
      EXPECT_EQ(answer.counts.reads, expected.counts.reads);
      EXPECT_EQ(answer.counts.bytes, expected.counts.bytes);
      EXPECT_EQ(answer.counts.clusters, expected.counts.clusters);
      EXPECT_EQ(answer.counts.distances, expected.counts.distances);
      EXPECT_EQ(answer.counts.stray_reads, expected.counts.stray_reads);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, OneClusterSegment, testing::ValuesIn(layout::kClusterLayouts),
                         [](const auto& test) {
                           std::string name(to_string(test.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(ClusterSegments, HoldWhatTheyShouldWhateverHappens) {
  open();
  for (int i = 0; i < 150; ++i) {
    change_somehow();
    if (!collection_->view()->segments.empty()) expect_same();
  }
  open();
  collection_->compact();
  if (!rows_.empty()) expect_same();
}

TEST_F(ClusterSegments, AMergeKeepsTheLargestAndTakesTheRestIn) {
  CollectionAccess access = small_access();
  access.merge = false;
  open(access);
  const Batch many = new_rows(0, 400);
  (void)collection_->import({many.rows(), many.ids()});
  insert_ids(380, 420);
  collection_->flush();
  insert_ids(420, 450);
  collection_->flush();
  erase_ids({0, 1, 41, 42, 399, 449});
  expect_same();
  collection_->compact();
  expect_same();
  EXPECT_TRUE(only().out->empty());
  EXPECT_EQ(manifest().count, 444u);
  EXPECT_EQ(manifest().cluster().geometry.clusters, 148u);
  EXPECT_EQ(manifest().cluster().build.replicas, 3u);
  EXPECT_EQ(manifest().dataset.rows_hashed, 0u);
  only().segment->folder().directory().verify({.quiet = true});
  open(access);
  expect_same();
  const CollectionReader reader(path(), small_segments());
  expect_holds(reader.view(), rows_, random_);
}

/// The same collection twice, of which one has been asked the same thing again and again.
class ProbedClusters : public ClusterSegments {
 protected:
  ProbedClusters() { access_.merge = false; }

  void fill() {
    random_ = Random(7);
    rows_.clear();
    open(access_);
    const Batch many = new_rows(0, 400);
    (void)collection_->import({many.rows(), many.ids()});
    insert_ids(400, 440);
    collection_->flush();
  }
  std::uint64_t probe(const std::vector<float>& query, int times) {
    std::uint64_t clusters = 0;
    for (int i = 0; i < times; ++i) {
      clusters += search_view(collection_->view(), query, 10, 12).counts.clusters;
    }
    return clusters;
  }
  static std::uint64_t sum(const Segment& segment) {
    const std::vector<std::uint64_t> counts = segment.records().probes().value().counts;
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }

  CollectionAccess access_ = small_access();
};

TEST_F(ProbedClusters, AreGroupedByItWhenTheyAreMerged) {
  const std::vector<float> query(kSmallDimension, 0.4F);
  fill();
  collection_->compact();
  const std::uint64_t unprobed = search_view(collection_->view(), query, 10, 12).counts.reads;
  collection_.reset();
  std::filesystem::remove_all(path());
  Collection::create(path(), small_cluster_shape());
  fill();
  const std::uint64_t clusters = probe(query, 100);
  const ViewPointer before = collection_->view();
  std::uint64_t counted = 0;
  for (const View::Bulk& bulk : before->segments) counted += sum(*bulk.segment);
  EXPECT_EQ(counted, clusters);
  collection_->compact();
  EXPECT_GT(sum(*only().segment), 0u) << "what was counted is not forgotten";
  const Answer answer = search_view(collection_->view(), query, 10, 12);
  EXPECT_LT(answer.counts.reads, unprobed);
  expect_same();
}

TEST_F(ClusterSegments, AreGoneWithTheirLastRow) {
  open();
  insert_ids(0, 60);
  collection_->flush();
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 0; id < 60; ++id) ids.push_back(id);
  erase_ids(ids);
  collection_->compact();
  EXPECT_TRUE(collection_->view()->segments.empty());
}

/// New vectors that are near each other lie in one segment: a search about them probes it as much
/// as one index.
TEST_F(ClusterSegments, TheSegmentOfWhatIsAskedForIsProbedMost) {
  CollectionAccess access = small_access();
  access.merge = false;
  open(access);
  Batch far;
  for (std::uint64_t id = 0; id < 40; ++id) {
    rows_[id] = random_row(random_);
    for (float& x : rows_[id]) x += 100;
    far.add(id, rows_[id]);
  }
  (void)insert(*collection_, far);
  collection_->flush();
  insert_ids(100, 140);
  collection_->flush();
  insert_ids(140, 180);
  collection_->flush();
  const std::vector<float> query(kSmallDimension, 100.0F);
  const auto expected = exact(rows_, Metric::l2, query);
  const Answer answer = search_view(collection_->view(), query, 10, 8);
  ASSERT_EQ(answer.ids.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(answer.ids[i], expected[i].second) << i;
}

TEST_F(ClusterSegments, ASearchOfGraphsIsRefused) {
  open();
  insert_ids(0, 60);
  collection_->flush();
  search::TaskListFeed feed(1, kPatienceUs);
  search::TaskListFeed::Task& task = feed.tasks().front();
  const std::vector<float> query = random_row(random_);
  task.request.query = reinterpret_cast<const std::byte*>(query.data());
  task.request.parameters =
      search::SearchParameters::make(5, search::GraphChoice{.list = 20}).value();
  make_collection_core([&] { return collection_->view(); }, 1)->run(feed);
  EXPECT_EQ(task.answer.status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(std::string(task.answer.status.message()), testing::HasSubstr("clusters"));
}

struct InnerProductClusters : ClusterSegments {
  InnerProductClusters()
      : ClusterSegments(
            small_cluster_shape(layout::ClusterLayoutKind::grouped, Metric::inner_product)) {}
};

TEST_F(InnerProductClusters, FindTheNearestInAllSegments) {
  CollectionAccess access = small_access();
  access.merge = false;
  open(access);
  for (std::uint64_t id = 0; id < 120; id += 40) {
    insert_ids(id, id + 40);
    collection_->flush();
  }
  expect_holds(collection_->view(), rows_, random_, Metric::inner_product);
  collection_->compact();
  expect_holds(collection_->view(), rows_, random_, Metric::inner_product);
}

}  // namespace
}  // namespace farvec::collection::of_clusters
