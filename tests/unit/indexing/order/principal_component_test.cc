#include "indexing/order/principal_component.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/unit/indexing/order/order_fixture.h"

namespace farvec::indexing {
namespace {

using testing::OrderRows;
using testing::sheared_rows;

std::vector<double> naive_mean(const OrderRows& rows) {
  std::vector<double> mean(rows.dimension, 0.0);
  for (std::size_t i = 0; i < rows.view().count; ++i) {
    const auto row = rows.row(i);
    for (std::size_t d = 0; d < row.size(); ++d) mean[d] += row[d];
  }
  for (double& value : mean) value /= static_cast<double>(rows.view().count);
  return mean;
}

/// The power method on the scatter matrix, in double.
std::vector<double> naive_component(const OrderRows& rows) {
  const auto mean = naive_mean(rows);
  std::vector<double> component(rows.dimension, 1.0);
  for (int iteration = 0; iteration < 1000; ++iteration) {
    std::vector<double> next(rows.dimension, 0.0);
    for (std::size_t i = 0; i < rows.view().count; ++i) {
      auto row = rows.row(i);
      double along = 0;
      for (std::size_t d = 0; d < row.size(); ++d) along += (row[d] -= mean[d]) * component[d];
      for (std::size_t d = 0; d < row.size(); ++d) next[d] += along * row[d];
    }
    double norm = 0;
    for (const double value : next) norm += value * value;
    for (std::size_t d = 0; d < next.size(); ++d) component[d] = next[d] / std::sqrt(norm);
  }
  return component;
}

std::vector<float> component_of(const OrderRows& rows, unsigned threads = 2,
                                std::size_t sample = 1 << 17) {
  return principal_component(rows.view(), mean_of(rows.view(), threads),
                             {.seed = 5, .threads = threads, .sample = sample});
}

double cosine(const std::vector<float>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += static_cast<double>(a[d]) * b[d];
  return std::abs(sum);
}

TEST(MeanOf, IsThatOfTheRows) {
  const OrderRows rows = sheared_rows(2500, 7);
  const auto expected = naive_mean(rows);
  const auto mean = mean_of(rows.view(), 2);
  for (std::size_t d = 0; d < 7; ++d) EXPECT_NEAR(mean[d], expected[d], 1e-4);
  EXPECT_EQ(mean_of(rows.view(), 1), mean);
}

TEST(PrincipalComponent, IsThatOfThePowerMethod) {
  for (const auto type : {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    for (const std::uint32_t dimension : {1u, 2u, 9u, 10u, 11u, 33u}) {
      const OrderRows rows = sheared_rows(400, dimension, type);
      EXPECT_GT(cosine(component_of(rows), naive_component(rows)), 0.999)
          << to_string(type) << " " << dimension;
    }
  }
}

TEST(PrincipalComponent, OfFewerRowsThanDirections) {
  for (const std::size_t count : {2u, 3u, 5u}) {
    const OrderRows rows = sheared_rows(count, 40);
    EXPECT_GT(cosine(component_of(rows), naive_component(rows)), 0.999) << count;
  }
}

TEST(PrincipalComponent, IsOfUnitLengthWithItsLargestElementPositive) {
  const auto component = component_of(sheared_rows(3000, 24));
  double norm = 0;
  float largest = 0;
  for (const float value : component) {
    norm += static_cast<double>(value) * static_cast<double>(value);
    if (std::abs(value) > std::abs(largest)) largest = value;
  }
  EXPECT_NEAR(norm, 1, 1e-5);
  EXPECT_GT(largest, 0);
}

TEST(PrincipalComponent, DoesNotDependOnThreads) {
  const OrderRows rows = sheared_rows(40000, 6);
  EXPECT_EQ(component_of(rows, 1), component_of(rows, 3));
}

TEST(PrincipalComponent, OfASampleIsNearThatOfAllRows) {
  const OrderRows rows = sheared_rows(5000, 12);
  EXPECT_GT(cosine(component_of(rows, 2, 1000), naive_component(rows)), 0.98);
}

TEST(PrincipalComponent, OfRowsThatDoNotDifferIsTheFirstAxis) {
  for (const std::size_t count : {1u, 1500u}) {
    const OrderRows rows(std::vector<float>(count * 5, 0.1f), 5);
    EXPECT_EQ(component_of(rows), (std::vector<float>{1, 0, 0, 0, 0}));
  }
}

}  // namespace
}  // namespace farvec::indexing
