#include "quantization/kernels/query.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include "base/types.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {
namespace {

std::vector<std::uint32_t> query_dimensions() {
  std::vector<std::uint32_t> result;
  for (std::uint32_t d = 1; d <= 140; ++d) result.push_back(d);
  for (const std::uint32_t d : {255u, 256u, 300u, 784u, 960u, 1536u, 4095u, 4096u, 7168u, 16384u}) {
    result.push_back(d);
  }
  return result;
}

/// One stride after the other, one pair after the other.
void plain_hadamard(float* v, std::uint32_t size) {
  for (std::uint32_t stride = 1; stride < size; stride *= 2) {
    for (std::uint32_t i = 0; i < size; ++i) {
      if ((i & stride) != 0) continue;
      const float a = v[i], b = v[i + stride];
      v[i] = a + b;
      v[i + stride] = a - b;
    }
  }
}

void plain_rotate(const RotationSteps& steps, float* v) {
  constexpr float kScale = 1.0f / std::numbers::sqrt2_v<float>;
  const std::uint32_t d = steps.dimension;
  for (std::uint32_t round = 0; round < steps.rounds; ++round) {
    for (std::uint32_t i = 0; i < d; ++i) v[i] *= steps.factors[round * d + i];
    plain_hadamard(v + (round % 2 == 0 ? 0 : d - steps.block), steps.block);
    if (steps.block == d) continue;
    for (std::uint32_t i = 0; i < d / 2; ++i) {
      const float a = v[i], b = v[i + d - d / 2];
      v[i] = (a + b) * kScale;
      v[i + d - d / 2] = (a - b) * kScale;
    }
  }
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class QueryKernelsTest : public testing::TestWithParam<distance::Isa> {
 protected:
  const QueryKernels& kernels() const { return select_query_kernels(GetParam()); }
};

TEST_P(QueryKernelsTest, RotationsHaveTheSameBitsAsOneStepAfterTheOther) {
  for (const std::uint32_t d : query_dimensions()) {
    const std::vector<float> factors = normal_values(4 * d, d);
    const RotationSteps steps{factors.data(), d, std::bit_floor(d), 4};
    std::vector<float> found = normal_values(d, 1000 + d), expected = found;
    kernels().rotate(steps, found.data());
    plain_rotate(steps, expected.data());
    EXPECT_TRUE(same_bits(found, expected)) << "dimension " << d;
  }
}

TEST_P(QueryKernelsTest, LargestIsTheLargestMagnitude) {
  for (const std::uint32_t d : query_dimensions()) {
    std::vector<float> values = normal_values(d, d);
    float expected = 0;
    for (const float value : values) expected = std::max(expected, std::fabs(value));
    EXPECT_EQ(kernels().largest(values.data(), d), expected) << "dimension " << d;
    values[d / 2] = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(kernels().largest(values.data(), d), std::numeric_limits<float>::infinity());
    values[d - 1] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(kernels().largest(values.data(), d)));
  }
}

/// What digits() has to write for one value.
std::int32_t plain_digit(float value, float per_unit, float top) {
  const float scaled = value * per_unit;
  return std::fabs(scaled) < top + 0.5f ? static_cast<std::int32_t>(std::nearbyint(scaled)) : 0;
}

TEST_P(QueryKernelsTest, DigitsAreTheNearestIntegers) {
  for (const std::uint32_t d : query_dimensions()) {
    std::vector<float> values = normal_values(d, d);
    for (float& value : values) value = std::round(value * 60) / 2;  // many halves
    values[0] = std::numeric_limits<float>::quiet_NaN();
    values[d / 3] = 127.5f;
    values[d - 1] = -std::numeric_limits<float>::infinity();
    std::vector<std::int8_t> coarse(d);
    const DigitSums sums = kernels().digits(values.data(), d, 1.0f, 127, coarse.data(), nullptr);
    std::int32_t sum = 0;
    for (std::uint32_t i = 0; i < d; ++i) {
      ASSERT_EQ(coarse[i], plain_digit(values[i], 1.0f, 127)) << values[i] << " of " << d;
      sum += coarse[i];
    }
    EXPECT_EQ(sums.coarse, sum);
    EXPECT_EQ(sums.fine, 0);
  }
}

TEST_P(QueryKernelsTest, FineDigitsAreTheRestOfCoarseOnes) {
  constexpr float kTop = 127 * 128;
  for (const std::uint32_t d : query_dimensions()) {
    const std::vector<float> values = normal_values(d, d);
    std::vector<std::int8_t> coarse(d), fine(d);
    const DigitSums sums =
        kernels().digits(values.data(), d, 4000.0f, kTop, coarse.data(), fine.data());
    std::int32_t coarse_sum = 0, fine_sum = 0;
    for (std::uint32_t i = 0; i < d; ++i) {
      const std::int32_t expected = plain_digit(values[i], 4000.0f, kTop);
      ASSERT_EQ(coarse[i] * 128 + fine[i], expected) << values[i] << " of " << d;
      ASSERT_GE(fine[i], -64);
      ASSERT_LE(fine[i], 63);
      coarse_sum += coarse[i];
      fine_sum += fine[i];
    }
    EXPECT_EQ(sums.coarse, coarse_sum);
    EXPECT_EQ(sums.fine, fine_sum);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, QueryKernelsTest, testing::ValuesIn(distance::available_isas()),
                         [](const auto& isa) { return std::string(to_string(isa.param)); });

}  // namespace
}  // namespace farvec::quantization
