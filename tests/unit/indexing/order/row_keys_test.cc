#include "indexing/order/row_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "indexing/order/principal_component.h"
#include "tests/unit/indexing/order/order_fixture.h"

namespace farvec::indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::OrderRows;
using testing::sheared_rows;

TEST(FirstElements, AreThose) {
  const OrderRows rows({1, 9, -2, 9, 0.5f, 9}, 2);
  EXPECT_THAT(first_elements(rows.view(), 2), ElementsAre(1.0f, -2.0f, 0.5f));
}

TEST(DistancesFromMean, AreSquaredAndFromTheMean) {
  for (const auto type : {ElementType::f32, ElementType::i8}) {
    const OrderRows rows = sheared_rows(300, 5, type);
    std::vector<double> mean(5, 0.0);
    for (std::size_t i = 0; i < 300; ++i) {
      for (std::size_t d = 0; d < 5; ++d) mean[d] += rows.row(i)[d] / 300;
    }
    const auto keys = distances_from_mean(rows.view(), 2);
    for (std::size_t i = 0; i < 300; ++i) {
      double distance = 0;
      for (std::size_t d = 0; d < 5; ++d) distance += std::pow(rows.row(i)[d] - mean[d], 2);
      EXPECT_NEAR(keys[i], distance, 1e-4 * (1 + distance));
    }
  }
}

TEST(RandomProjections, AreLinearAndSeeded) {
  // Along one direction, the sum of two rows lies at the sum of their places.
  const OrderRows rows({1, 2, 3, -4, 5, 0.5f, -3, 7, 3.5f}, 3);
  const auto keys = random_projections(rows.view(), 1, 2);
  EXPECT_NEAR(keys[0] + keys[1], keys[2], 1e-4);
  EXPECT_EQ(random_projections(rows.view(), 1, 1), keys);
  EXPECT_NE(random_projections(rows.view(), 2, 1), keys);
}

TEST(PrincipalProjections, AreAlongTheComponentFromTheMean) {
  const OrderRows rows = sheared_rows(500, 8, ElementType::f16);
  const auto mean = mean_of(rows.view(), 1);
  const auto component = principal_component(rows.view(), mean, {.seed = 4});
  const auto keys = principal_projections(rows.view(), 4, 2);
  for (std::size_t i = 0; i < 500; ++i) {
    double along = 0;
    for (std::size_t d = 0; d < 8; ++d) {
      along += (rows.row(i)[d] - static_cast<double>(mean[d])) * static_cast<double>(component[d]);
    }
    EXPECT_NEAR(keys[i], along, 1e-3);
  }
}

TEST(OrderByKeys, AscendsAndKeepsTheOrderOfEqualOnes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(order_by_keys({3, 1, nan, 3, -2, 1}), ElementsAre(4, 1, 5, 0, 3, 2));
  EXPECT_THAT(order_by_keys({}), IsEmpty());
  EXPECT_THAT(order_by_keys({0.0f, -0.0f, 0.0f}), ElementsAre(0, 1, 2));
}

TEST(RowKeys, OfNoRowsAreNone) {
  const OrderRows rows({}, 4);
  EXPECT_THAT(first_elements(rows.view(), 1), IsEmpty());
  EXPECT_THAT(distances_from_mean(rows.view(), 1), IsEmpty());
  EXPECT_THAT(random_projections(rows.view(), 1, 1), IsEmpty());
  EXPECT_THAT(principal_projections(rows.view(), 1, 1), IsEmpty());
}

}  // namespace
}  // namespace farvec::indexing
