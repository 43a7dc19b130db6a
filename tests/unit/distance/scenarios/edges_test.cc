// What docs/understand/distance.md says of edges, on every instruction set: sums near the largest
// float and beyond, tiny and zero vectors, subnormals, and the largest sums of integers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/finite.h"
#include "distance/distance.h"
#include "distance/half.h"
#include "distance/reference.h"
#include "tests/unit/distance/named_tables.h"

namespace farvec::distance {
namespace {

constexpr std::uint32_t kEdgeDimensions[] = {1, 5, 16, 31, 100, 128, 1000, 7168, 16384};
constexpr float kInfinite = std::numeric_limits<float>::infinity();

const std::byte* bytes_of(const std::vector<float>& row) {
  return reinterpret_cast<const std::byte*>(row.data());
}

/// Small integers times 2^exponent, so that all products and their sums are exact in f32.
std::vector<float> scaled(std::uint32_t dimension, int exponent, std::uint32_t seed = 0) {
  std::vector<float> row(dimension);
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const auto number = static_cast<float>((i * 5 + seed) % 7) - 3.0f;
    row[i] = std::ldexp(number == 0 ? 2.0f : number, exponent);
  }
  return row;
}

std::vector<std::uint16_t> halves(const std::vector<float>& row) {
  std::vector<std::uint16_t> out;
  for (const float value : row) out.push_back(float_to_half(value));
  return out;
}

template <typename Row>
void expect_exact(Metric metric, ElementType type, const Row& a, const Row& b) {
  const auto d = static_cast<std::uint32_t>(a.size());
  const auto expected =
      static_cast<float>(reference::distance(metric, type, a.data(), b.data(), d));
  for (const NamedTable& named : tables(d)) {
    EXPECT_EQ(pair_of(named.table, metric, type)(a.data(), b.data(), d), expected)
        << named.name << ' ' << to_string(metric) << ' ' << to_string(type) << ' ' << d;
  }
}

/// Two rows of the greatest length that is taken, in opposite directions: 2^127 apart.
TEST(DistanceEdges, TheLongestRowsHaveFiniteDistances) {
  for (const std::uint32_t d : kEdgeDimensions) {
    const auto value = static_cast<float>(std::sqrt(kMostSquaredLength / d) * (1 - 1e-7));
    const std::vector<float> a(d, value), b(d, -value);
    ASSERT_EQ(fault_of_row(bytes_of(a), ElementType::f32, d), RowFault::none) << d;
    for (const NamedTable& named : tables(d)) {
      const float l2 = pair_of(named.table, Metric::l2, ElementType::f32)(a.data(), b.data(), d);
      const float ip =
          pair_of(named.table, Metric::inner_product, ElementType::f32)(a.data(), b.data(), d);
      EXPECT_NEAR(l2 / 0x1p127f, 1, 1e-4) << named.name << ' ' << d;
      EXPECT_NEAR(ip / 0x1p125f, 1, 1e-4) << named.name << ' ' << d;
    }
  }
}

TEST(DistanceEdges, RowsWhoseSumsAreBeyondFloatsAreRefusedAndInfinitelyFar) {
  for (const std::uint32_t d : kEdgeDimensions) {
    const std::vector<float> a(d, 1e20f), b(d, -1e20f);
    EXPECT_EQ(fault_of_row(bytes_of(a), ElementType::f32, d), RowFault::too_long);
    for (const NamedTable& named : tables(d)) {
      EXPECT_EQ(pair_of(named.table, Metric::l2, ElementType::f32)(a.data(), b.data(), d),
                kInfinite);
      EXPECT_EQ(
          pair_of(named.table, Metric::inner_product, ElementType::f32)(a.data(), b.data(), d),
          kInfinite);
    }
  }
}

/// The longest rows of halves are far from the largest float.
TEST(DistanceEdges, HalvesNeverOverflow) {
  const std::vector<std::uint16_t> a(kMaxDimension, 0x7bff), b(kMaxDimension, 0xfbff);
  const double expected = 4.0 * 65504 * 65504 * kMaxDimension;
  for (const NamedTable& named : tables(kMaxDimension)) {
    const PairKernel l2 = pair_of(named.table, Metric::l2, ElementType::f16);
    EXPECT_NEAR(l2(a.data(), b.data(), kMaxDimension) / expected, 1, 1e-4) << named.name;
  }
}

/// A power of two is a factor that changes no digit of a unit vector, down to the least subnormal.
TEST(DistanceEdges, UnitVectorsDoNotDependOnTheLength) {
  for (const std::uint32_t d : kEdgeDimensions) {
    std::vector<float> unit(d), other(d);
    to_stored(scaled(d, 0).data(), ElementType::f32, Metric::cosine, d, unit.data());
    for (const int exponent : {-149, -148, -126, -100, -1, 60, 125}) {
      to_stored(scaled(d, exponent).data(), ElementType::f32, Metric::cosine, d, other.data());
      ASSERT_EQ(other, unit) << d << ' ' << exponent;
      ASSERT_EQ(fault_of_row(bytes_of(scaled(d, exponent)), ElementType::f32, d, Metric::cosine),
                RowFault::none);
    }
    std::vector<std::uint16_t> half_unit(d), half_other(d);
    to_stored(halves(scaled(d, 0)).data(), ElementType::f16, Metric::cosine, d, half_unit.data());
    for (const int exponent : {-24, -14, 5, 14}) {
      to_stored(halves(scaled(d, exponent)).data(), ElementType::f16, Metric::cosine, d,
                half_other.data());
      ASSERT_EQ(half_other, half_unit) << d << ' ' << exponent;
    }
  }
}

TEST(DistanceEdges, TinyVectorsHaveACosine) {
  for (const std::uint32_t d : kEdgeDimensions) {
    const std::vector<float> row(d, 1e-30f), opposite(d, -1e-45f);
    std::vector<float> a(d), b(d);
    to_stored(row.data(), ElementType::f32, Metric::cosine, d, a.data());
    to_stored(opposite.data(), ElementType::f32, Metric::cosine, d, b.data());
    for (const NamedTable& named : tables(d)) {
      const PairKernel cosine = pair_of(named.table, Metric::cosine, ElementType::f32);
      EXPECT_NEAR(cosine(a.data(), a.data(), d), 0, 1e-5) << named.name << ' ' << d;
      EXPECT_NEAR(cosine(a.data(), b.data(), d), 2, 1e-5) << named.name << ' ' << d;
    }
  }
}

TEST(DistanceEdges, AZeroVectorIsAtRightAnglesToAll) {
  for (const std::uint32_t d : kEdgeDimensions) {
    std::vector<float> zero(d, 9.0f), unit(d);
    to_stored(std::vector<float>(d).data(), ElementType::f32, Metric::cosine, d, zero.data());
    to_stored(scaled(d, 0).data(), ElementType::f32, Metric::cosine, d, unit.data());
    EXPECT_EQ(zero, std::vector<float>(d));
    for (const auto* other : {&zero, &unit}) {
      expect_exact(Metric::inner_product, ElementType::f32, zero, *other);
      for (const NamedTable& named : tables(d)) {
        EXPECT_EQ(
            pair_of(named.table, Metric::cosine, ElementType::f32)(zero.data(), other->data(), d),
            1.0f)
            << named.name;
        EXPECT_EQ(pair_of(named.table, Metric::cosine, ElementType::f16)(halves(zero).data(),
                                                                         halves(*other).data(), d),
                  1.0f)
            << named.name;
      }
    }
    expect_exact(Metric::l2, ElementType::f32, zero, zero);
  }
}

/// Subnormals are numbers like others: elements, and distances.
TEST(DistanceEdges, SubnormalsAreNotFlushed) {
  for (const std::uint32_t d : kEdgeDimensions) {
    expect_exact(Metric::inner_product, ElementType::f32, scaled(d, -149), scaled(d, 100, 1));
    expect_exact(Metric::l2, ElementType::f32, scaled(d, -74), scaled(d, -74, 1));
    for (const Metric metric : {Metric::l2, Metric::inner_product}) {
      expect_exact(metric, ElementType::f16, halves(scaled(d, -24)), halves(scaled(d, -24, 1)));
    }
  }
}

/// The squared distance of rows closer than 2^-75 is less than half of the least float.
TEST(DistanceEdges, SquaresBelowTheLeastFloatAreZero) {
  for (const std::uint32_t d : kEdgeDimensions) {
    for (const NamedTable& named : tables(d)) {
      const PairKernel l2 = pair_of(named.table, Metric::l2, ElementType::f32);
      EXPECT_EQ(l2(scaled(d, -149).data(), scaled(d, -149, 1).data(), d), 0.0f) << named.name;
      const std::vector<float> a(d, 1e-30f), b(d, -1e-30f);
      EXPECT_EQ(l2(a.data(), b.data(), d), 0.0f) << named.name;
    }
  }
}

/// Sums above 2^24 are rounded once, from the exact integer.
TEST(DistanceEdges, TheLargestSumsOfIntegersAreExact) {
  const std::uint32_t d = kMaxDimension;
  const std::vector<std::uint8_t> none(d, 0), all(d, 255), low(d, 0x80), high(d, 0x7f);
  for (const NamedTable& named : tables(d)) {
    const auto pair = [&](Metric metric, ElementType type, const auto& a, const auto& b) {
      return pair_of(named.table, metric, type)(a.data(), b.data(), d);
    };
    SCOPED_TRACE(named.name);
    EXPECT_EQ(pair(Metric::l2, ElementType::u8, none, all), 65025.0f * 16384);
    EXPECT_EQ(pair(Metric::inner_product, ElementType::u8, all, all), -65025.0f * 16384);
    EXPECT_EQ(pair(Metric::l2, ElementType::i8, low, high), 65025.0f * 16384);
    EXPECT_EQ(pair(Metric::inner_product, ElementType::i8, low, low), -16384.0f * 16384);
    EXPECT_EQ(pair(Metric::inner_product, ElementType::i8, low, high), 16256.0f * 16384);
  }
  std::vector<std::uint8_t> odd = all;  // 2^24 < the sum, which no float is
  odd[0] = 254;
  expect_exact(Metric::inner_product, ElementType::u8, odd, all);
  expect_exact(Metric::l2, ElementType::u8, odd, none);
}

}  // namespace
}  // namespace farvec::distance
