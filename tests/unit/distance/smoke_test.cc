#include <gtest/gtest.h>

#include <vector>

#include "distance/distance.h"
#include "distance/reference.h"

namespace farvec::distance {
namespace {

TEST(Distance, SmallVectors) {
  const std::vector<float> a = {1, 2, 3};
  const std::vector<float> b = {4, 6, 3};
  EXPECT_EQ(pair_kernel(Metric::l2, ElementType::f32, 3)(a.data(), b.data(), 3), 25.0f);
  EXPECT_EQ(pair_kernel(Metric::inner_product, ElementType::f32, 3)(a.data(), b.data(), 3), -25.0f);
  EXPECT_EQ(reference::distance(Metric::l2, ElementType::f32, a.data(), b.data(), 3), 25.0);
}

}  // namespace
}  // namespace farvec::distance
