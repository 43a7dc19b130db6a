#include "search/searchers/row_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace farvec::search {
namespace {

/// Brings nothing but ids, the last one first.
struct IdSource {
  std::size_t pauses = 0;
  std::vector<std::size_t> batches;
  std::vector<NodeId> read;

  void expect(NodeId) {}
  void pause() { ++pauses; }
  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    batches.push_back(frontier.size());
    read.insert(read.end(), frontier.begin(), frontier.end());
    for (std::size_t i = frontier.size(); i > 0; --i) visit(frontier[i - 1], NodeRecord{});
    return {};
  }
};

struct TableScorer {
  const std::vector<float>& distances;
  float exact(NodeId id, const NodeRecord&) const { return distances[id]; }
};

/// Its estimates are the distances.
struct EstimatingTableScorer : TableScorer {
  void prefetch(NodeId) const {}
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    for (std::size_t i = 0; i < count; ++i) out[i] = distances[ids[i]];
  }
};

std::vector<NodeId> first_rows(std::size_t count) {
  std::vector<NodeId> rows(count);
  std::iota(rows.begin(), rows.end(), NodeId{0});
  return rows;
}

SearchRequest request_of(std::span<const NodeId> only, std::uint32_t k, std::uint32_t list) {
  SearchRequest request;
  request.parameters = SearchParameters::make(k, GraphChoice{.list = list}).value();
  request.deadline = std::numeric_limits<Ticks>::max();
  request.only = only;
  return request;
}

template <typename Scorer>
Status scan_table(IdSource& source, const Scorer& scorer, const SearchRequest& request,
                  graph::BeamScratch& scratch) {
  QueryCounts counts;
  return RowScan<IdSource, Scorer>({source, scorer, request, nullptr}, scratch, counts).run();
}

void expect_least(const graph::CandidateList& results, const std::vector<float>& distances,
                  std::size_t k) {
  std::vector<std::pair<float, NodeId>> all;
  for (NodeId row = 0; row < distances.size(); ++row) all.emplace_back(distances[row], row);
  std::sort(all.begin(), all.end());
  ASSERT_EQ(results.size(), std::min(k, all.size()));
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].id, all[i].second) << i;
    EXPECT_EQ(results[i].distance, all[i].first) << i;
  }
}

TEST(RowScan, OfRowsAtOneDistanceTheLowerOnesAreKeptInWhateverOrderTheyCome) {
  Random random(6);
  graph::BeamScratch scratch;
  for (const std::size_t count : {1u, 9u, 64u, 65u, 500u}) {
    for (const std::uint32_t values : {1u, 3u, 100u}) {
      std::vector<float> distances;
      for (std::size_t i = 0; i < count; ++i) {
        const float value = static_cast<float>(random.below(values)) - 1;
        distances.push_back(value == 0 && random.below(2) == 0 ? -0.0F : value);
      }
      const std::vector<NodeId> only = first_rows(count);
      IdSource source;
      ASSERT_TRUE(
          scan_table(source, TableScorer{distances}, request_of(only, 10, 10), scratch).ok());
      expect_least(scratch.results, distances, 10);
      EXPECT_EQ(source.read, only);
    }
  }
}

TEST(RowScan, ADistanceThatIsNoNumberIsNoResult) {
  const std::vector<float> distances = {3, std::numeric_limits<float>::quiet_NaN(), 1};
  const std::vector<NodeId> only = first_rows(3);
  graph::BeamScratch scratch;
  IdSource source;
  ASSERT_TRUE(scan_table(source, TableScorer{distances}, request_of(only, 3, 3), scratch).ok());
  ASSERT_EQ(scratch.results.size(), 2u);
  EXPECT_EQ(scratch.results[0].id, 2u);
  EXPECT_EQ(scratch.results[1].id, 0u);
}

TEST(RowScan, BatchesAreAsLargeAsAHopMayBe) {
  const std::vector<float> distances(200, 1);
  const std::vector<NodeId> only = first_rows(200);
  graph::BeamScratch scratch;
  IdSource source;
  ASSERT_TRUE(scan_table(source, TableScorer{distances}, request_of(only, 10, 10), scratch).ok());
  EXPECT_EQ(source.batches, (std::vector<std::size_t>{64, 64, 64, 8}));
  EXPECT_EQ(source.pauses, 0u);
}

TEST(RowScan, OnlyTheNearestByEstimateAreRead) {
  Random random(7);
  std::vector<float> distances;
  for (int i = 0; i < 3000; ++i) distances.push_back(static_cast<float>(random.uniform()));
  const std::vector<NodeId> only = first_rows(distances.size());
  graph::BeamScratch scratch;
  IdSource source;
  const EstimatingTableScorer scorer{{distances}};
  ASSERT_TRUE(scan_table(source, scorer, request_of(only, 10, 100), scratch).ok());
  expect_least(scratch.results, distances, 10);
  EXPECT_EQ(source.batches, (std::vector<std::size_t>{64, 36}));
  const auto nearer = [&](NodeId a, NodeId b) { return distances[a] < distances[b]; };
  EXPECT_TRUE(std::is_sorted(source.read.begin(), source.read.end(), nearer));
}

/// Codes of many rows take long to compare.
TEST(RowScan, OthersGoOnWhileManyRowsAreEstimated) {
  const std::vector<float> distances(20'000, 1);
  const std::vector<NodeId> only = first_rows(distances.size());
  graph::BeamScratch scratch;
  const EstimatingTableScorer scorer{{distances}};
  IdSource source;
  ASSERT_TRUE(scan_table(source, scorer, request_of(only, 10, 10), scratch).ok());
  EXPECT_EQ(source.pauses, 20'000u / (64 * 64));
  SearchRequest late = request_of(only, 10, 10);
  late.deadline = 1;
  IdSource unread;
  EXPECT_EQ(scan_table(unread, scorer, late, scratch).code(), StatusCode::deadline_exceeded);
  EXPECT_TRUE(unread.read.empty());
}

TEST(RowScan, RecordsOfOtherRowsThanBeforeAreDataLoss) {
  RowVertices vertices(3);
  vertices.open();
  const RowVertices::Batch all = vertices.next();
  for (NodeId v = 0; v < 3; ++v) vertices.learn(v, 2 - v);
  vertices.finish(all);
  const std::vector<float> distances = {1, 2, 3};
  const std::vector<NodeId> only = first_rows(2);
  const SearchRequest request = request_of(only, 2, 3);
  graph::BeamScratch scratch;
  QueryCounts counts;
  IdSource source;  // whose records are of the row with their vertex's number
  const TableScorer scorer{distances};
  const Status status =
      RowScan<IdSource, TableScorer>({source, scorer, request, &vertices}, scratch, counts).run();
  EXPECT_EQ(status.code(), StatusCode::data_loss);
  EXPECT_EQ(source.read, (std::vector<NodeId>{2, 1}));
}

TEST(RowScan, RowsAreCheckedBefore) {
  EXPECT_TRUE(check_rows({}, 0).ok());
  for (const std::vector<NodeId>& rows : {std::vector<NodeId>{}, {0}, {0, 3, 9}}) {
    EXPECT_TRUE(check_rows(rows, 10).ok());
  }
  for (const std::vector<NodeId>& rows : {std::vector<NodeId>{10}, {3, 3}, {4, 1}, {1, 10}}) {
    EXPECT_EQ(check_rows(rows, 10).code(), StatusCode::invalid_argument);
  }
}

}  // namespace
}  // namespace farvec::search
