#include "cluster/balanced_kmeans.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "distance/reference.h"
#include "tests/unit/cluster/test_data.h"

namespace farvec::cluster {
namespace {

using testing::cloud_rows;
using testing::Rows;

std::vector<NodeId> all_points(std::size_t count) {
  std::vector<NodeId> points(count);
  std::iota(points.begin(), points.end(), NodeId{0});
  return points;
}

Split split(const Rows& rows, std::uint32_t parts, double balance, unsigned threads = 1) {
  SplitOptions options;
  options.parts = parts;
  options.largest = static_cast<std::uint64_t>(
      std::ceil(balance * static_cast<double>(rows.view().count) / parts));
  options.threads = threads;
  return BalancedKmeans(rows.view(), all_points(rows.view().count), options).run();
}

/// Sizes, bounds and means are what the result says.
void expect_sound(const Split& result, const Rows& rows, std::uint32_t parts, double balance) {
  const std::size_t count = rows.view().count;
  const auto largest =
      static_cast<std::uint64_t>(std::ceil(balance * static_cast<double>(count) / parts));
  std::vector<std::uint64_t> sizes(parts, 0);
  std::vector<double> sums(std::size_t{parts} * rows.dimension, 0.0);
  ASSERT_EQ(result.part_of.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t part = result.part_of[i];
    ASSERT_LT(part, parts);
    ++sizes[part];
    for (std::uint32_t d = 0; d < rows.dimension; ++d) {
      sums[part * rows.dimension + d] +=
          distance::reference::element(rows.view().row(i), ElementType::f32, d);
    }
  }
  EXPECT_EQ(result.sizes, sizes);
  for (std::uint32_t part = 0; part < parts; ++part) {
    EXPECT_GE(sizes[part], 1u);
    EXPECT_LE(sizes[part], largest);
    for (std::uint32_t d = 0; d < rows.dimension; ++d) {
      const std::size_t at = part * rows.dimension + d;
      EXPECT_NEAR(static_cast<double>(result.centers[at]),
                  sums[at] / static_cast<double>(sizes[part]), 1e-3);
    }
  }
}

TEST(BalancedKmeans, KeepsEveryBound) {
  const Rows rows = cloud_rows(1000, 7, 1);
  for (const std::uint32_t parts : {1u, 2u, 7u, 32u}) {
    for (const double balance : {1.0, 1.2, 2.0, 1000.0}) {
      SCOPED_TRACE(fmt::format("{} parts, balance {}", parts, balance));
      expect_sound(split(rows, parts, balance), rows, parts, balance);
    }
  }
}

TEST(BalancedKmeans, FindsSeparateClouds) {
  std::vector<float> values;
  for (std::size_t i = 0; i < 400; ++i) {
    values.push_back(static_cast<float>(i % 4) * 100 + static_cast<float>(i) / 400);
    values.push_back(0);
  }
  const Rows rows(values, 2, ElementType::f32);
  const Split result = split(rows, 4, 1.5);
  for (std::size_t i = 0; i < 400; ++i) EXPECT_EQ(result.part_of[i], result.part_of[i % 4]);
}

TEST(BalancedKmeans, CutsOneCloudWhereItLosesLeast) {
  // On a line: 80 points at the left, 20 at the right, and room for 50 each. The points that go
  // over are the rightmost of the left ones.
  std::vector<float> values;
  for (std::size_t i = 0; i < 100; ++i) {
    values.push_back(static_cast<float>(i) + (i < 80 ? 0.0f : 1000.0f));
  }
  const Rows rows(values, 1, ElementType::f32);
  const Split result = split(rows, 2, 1.0);
  for (std::size_t i = 1; i < 100; ++i) {
    EXPECT_EQ(result.part_of[i] == result.part_of[i - 1], i != 50) << i;
  }
}

TEST(BalancedKmeans, EqualPointsFillEveryPart) {
  const Rows rows(std::vector<float>(300, 5.0f), 3, ElementType::f32);
  expect_sound(split(rows, 9, 1.0), rows, 9, 1.0);
  expect_sound(split(rows, 9, 50.0), rows, 9, 50.0);
  expect_sound(split(rows, 100, 1.0), rows, 100, 1.0);
}

TEST(BalancedKmeans, AsManyPartsAsPoints) {
  const Rows rows = cloud_rows(32, 5, 3);
  expect_sound(split(rows, 32, 1.0), rows, 32, 1.0);
  expect_sound(split(rows, 32, 8.0), rows, 32, 8.0);
}

TEST(BalancedKmeans, ThreadsDoNotMatter) {
  const Rows rows = cloud_rows(10000, 9, 4);
  const Split one = split(rows, 16, 1.1, 1), three = split(rows, 16, 1.1, 3);
  EXPECT_EQ(one.part_of, three.part_of);
  EXPECT_EQ(one.centers, three.centers);
}

TEST(BalancedKmeans, TakesAnySubset) {
  const Rows rows = cloud_rows(500, 4, 5);
  std::vector<NodeId> odd;
  for (NodeId i = 1; i < 500; i += 2) odd.push_back(i);
  SplitOptions options;
  options.parts = 5;
  options.largest = 60;
  const Split result = BalancedKmeans(rows.view(), odd, options).run();
  EXPECT_EQ(result.part_of.size(), odd.size());
  EXPECT_LE(*std::max_element(result.sizes.begin(), result.sizes.end()), 60u);
}

TEST(NearestToMean, IsTheFirstOfTheNearest) {
  const Rows rows = cloud_rows(90, 5, 6);
  for (const std::size_t count : {1u, 2u, 3u, 90u}) {
    const std::vector<NodeId> points = all_points(count);
    std::vector<float> mean(5), nearest(5);
    write_mean(rows.view(), points, mean.data());
    write_nearest_to_mean(rows.view(), points, nearest.data());
    const auto* best =
        std::min_element(points.data(), points.data() + count, [&](NodeId a, NodeId b) {
          const auto distance = [&](NodeId point) {
            return distance::reference::squared_l2(mean.data(), rows.view().row(point),
                                                   ElementType::f32, 5);
          };
          return distance(a) < distance(b) - 1e-3;
        });
    const auto* row = reinterpret_cast<const float*>(rows.view().row(*best));
    EXPECT_EQ(nearest, std::vector<float>(row, row + 5)) << count;
  }
}

}  // namespace
}  // namespace farvec::cluster
