#include "base/finite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace farvec {
namespace {

bool is_finite(const std::vector<float>& row) {
  return is_finite_row(reinterpret_cast<const std::byte*>(row.data()), ElementType::f32,
                       static_cast<std::uint32_t>(row.size()));
}

TEST(FiniteRow, FindsTheOneValueThatIsNot) {
  using Limits = std::numeric_limits<float>;
  for (const float value :
       {0.0f, -0.0f, Limits::max(), Limits::lowest(), Limits::denorm_min(), Limits::infinity(),
        -Limits::infinity(), Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    for (const std::size_t dimension : {1u, 2u, 17u, 64u}) {
      for (std::size_t place = 0; place < dimension; ++place) {
        std::vector<float> row(dimension, 1.5f);
        row[place] = value;
        EXPECT_EQ(is_finite(row), std::isfinite(value)) << value << place;
      }
    }
  }
  EXPECT_TRUE(is_finite({}));
}

TEST(FiniteRow, KnowsEveryHalf) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    EXPECT_EQ(is_finite_row(reinterpret_cast<const std::byte*>(&half), ElementType::f16, 1),
              (bits >> 10 & 31) != 31)
        << bits;
  }
}

TEST(FiniteRow, IsAnyRowOfIntegersAndLiesAtAnyAddress) {
  std::vector<std::byte> bytes(41, std::byte{0xff});
  EXPECT_TRUE(is_finite_row(bytes.data(), ElementType::u8, 41));
  EXPECT_TRUE(is_finite_row(bytes.data(), ElementType::i8, 41));
  EXPECT_FALSE(is_finite_row(bytes.data() + 1, ElementType::f32, 10));
  std::fill(bytes.begin() + 1, bytes.end(), std::byte{0x3f});
  EXPECT_TRUE(is_finite_row(bytes.data() + 1, ElementType::f32, 10));
}

RowFault fault(const std::vector<float>& row) {
  return fault_of_row(reinterpret_cast<const std::byte*>(row.data()), ElementType::f32,
                      static_cast<std::uint32_t>(row.size()));
}

TEST(RowFault, KnowsRowsWhoseDistancesAFloatCannotHold) {
  for (const std::size_t dimension : {1u, 2u, 17u, 1000u}) {
    const auto all = [&](double value) {
      return std::vector<float>(dimension, static_cast<float>(value));
    };
    const double most = std::sqrt(kMostSquaredLength / static_cast<double>(dimension));
    EXPECT_EQ(fault(all(0)), RowFault::none);
    EXPECT_EQ(fault(all(most * 0.9999)), RowFault::none) << dimension;
    EXPECT_EQ(fault(all(most * 1.0001)), RowFault::too_long) << dimension;
    EXPECT_EQ(fault(all(-3e38)), RowFault::too_long) << dimension;
    EXPECT_EQ(fault(all(NAN)), RowFault::not_finite);
    // Opposite rows of the greatest length: the largest distance there is.
    float sum = 0;
    for (const float value : all(most)) sum += (2 * value) * (2 * value);
    EXPECT_TRUE(std::isfinite(sum)) << dimension;
  }
}

TEST(RowFault, RowsOfCosineMayHaveAnyFiniteLength) {
  const std::vector<float> row(16, 1e30f);
  const auto* const bytes = reinterpret_cast<const std::byte*>(row.data());
  EXPECT_EQ(fault_of_row(bytes, ElementType::f32, 16, Metric::cosine), RowFault::none);
  EXPECT_EQ(fault_of_row(bytes, ElementType::f32, 16, std::nullopt), RowFault::none);
  EXPECT_EQ(fault_of_row(bytes, ElementType::f32, 16, Metric::l2), RowFault::too_long);
  EXPECT_EQ(fault_of_row(bytes, ElementType::f32, 16, Metric::inner_product), RowFault::too_long);
}

}  // namespace
}  // namespace farvec
