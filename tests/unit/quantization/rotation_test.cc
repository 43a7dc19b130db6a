#include "quantization/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {
namespace {

std::vector<std::uint32_t> rotated_dimensions() {
  std::vector<std::uint32_t> result;
  for (std::uint32_t d = 1; d <= 130; ++d) result.push_back(d);
  for (const std::uint32_t d : {255u, 784u, 4095u, 4096u, 7168u, 16384u}) result.push_back(d);
  return result;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST(Rotation, KeepsNormsAndInnerProducts) {
  for (const std::uint32_t d : rotated_dimensions()) {
    const Rotation rotation(d, d);
    auto a = normal_values(d, 1), b = normal_values(d, 2);
    const double aa = dot(a, a), ab = dot(a, b), bb = dot(b, b);
    rotation.apply(a.data());
    rotation.apply(b.data());
    EXPECT_NEAR(dot(a, a), aa, 1e-5 * aa) << "dimension " << d;
    EXPECT_NEAR(dot(a, b), ab, 1e-5 * std::sqrt(aa * bb)) << "dimension " << d;
  }
}

TEST(Rotation, SpreadsAUnitVectorOverAllDimensions) {
  for (const std::uint32_t d : {64u, 96u, 100u, 128u, 129u, 200u, 255u, 784u}) {
    const Rotation rotation(d, 7);
    for (const std::uint32_t hot : {0u, d / 2, d - 1}) {
      std::vector<float> v(d, 0.0f);
      v[hot] = 1;
      rotation.apply(v.data());
      double fourth = 0;
      for (const float x : v) fourth += std::pow(static_cast<double>(x), 4);
      // 1 / d when all are equal, 3 / d for a uniform direction, 1 for no mixing at all.
      EXPECT_LT(fourth, 8.0 / d) << "dimension " << d << ", input " << hot;
    }
  }
}

TEST(Rotation, SameSeedSameMapOtherSeedOtherMap) {
  auto a = normal_values(100, 1), b = a, c = a;
  Rotation(100, 5).apply(a.data());
  Rotation(100, 5).apply(b.data());
  Rotation(100, 6).apply(c.data());
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(Rotation, RefusesDimensionsOutOfRange) {
  EXPECT_THROW(Rotation(0, 1), Error);
  EXPECT_THROW(Rotation(kMaxDimension + 1, 1), Error);
}

}  // namespace
}  // namespace farvec::quantization
