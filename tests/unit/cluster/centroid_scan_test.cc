#include "cluster/centroid_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "distance/distance.h"
#include "tests/unit/cluster/test_data.h"

namespace farvec::cluster {
namespace {

using testing::clouds;

VectorView view_of(const std::vector<float>& rows, std::uint32_t dimension) {
  return packed_view(rows.data(), rows.size() / dimension, dimension, ElementType::f32);
}

/// All of them, nearest first.
std::vector<ClusterId> by_distance(const VectorView& rows, const float* query) {
  const auto kernel = distance::pair_kernel(Metric::l2, ElementType::f32, rows.dimension);
  std::vector<ClusterId> all(rows.count);
  std::iota(all.begin(), all.end(), ClusterId{0});
  std::sort(all.begin(), all.end(), [&](ClusterId a, ClusterId b) {
    return kernel(query, rows.row(a), rows.dimension) < kernel(query, rows.row(b), rows.dimension);
  });
  return all;
}

TEST(CentroidScan, AFewMoreThanTheNearestHaveTheNearestAmongThem) {
  for (const std::uint32_t width : {5u, 33u}) {
    const std::vector<float> centroids = clouds(1003, width, 1, 30);
    const std::vector<float> queries = clouds(40, width, 1, 30);
    const CentroidScan scan(view_of(centroids, width), 2);
    CentroidScanScratch scratch;
    std::size_t hits = 0;
    for (std::size_t q = 0; q < 40; ++q) {
      const float* const query = &queries[q * width];
      const auto near = scan.near(query, 100, scratch);  // as CentroidIndex asks for 30
      const std::set<ClusterId> found(near.begin(), near.end());
      ASSERT_EQ(found.size(), 100u) << "none twice";
      const std::vector<ClusterId> all = by_distance(view_of(centroids, width), query);
      for (std::size_t i = 0; i < 30; ++i) hits += found.count(all[i]);
    }
    EXPECT_GE(hits, 40u * 30u * 98 / 100) << width;
  }
}

TEST(CentroidScan, AllComeWhenThereAreNoMore) {
  for (const std::size_t count : {1u, 31u, 32u, 33u}) {
    const std::vector<float> centroids = clouds(count, 7, 3);
    const CentroidScan scan(view_of(centroids, 7), 1);
    CentroidScanScratch scratch;
    const auto near = scan.near(centroids.data(), 100, scratch);
    const std::set<ClusterId> found(near.begin(), near.end());
    EXPECT_EQ(found.size(), count);
    EXPECT_EQ(*found.rbegin(), count - 1);
  }
}

TEST(CentroidScan, NothingIsNearAQueryThatIsNoNumber) {
  const std::vector<float> centroids = clouds(50, 4, 3);
  const CentroidScan scan(view_of(centroids, 4), 1);
  CentroidScanScratch scratch;
  const std::vector<float> query(4, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(scan.near(query.data(), 10, scratch).empty());
}

}  // namespace
}  // namespace farvec::cluster
