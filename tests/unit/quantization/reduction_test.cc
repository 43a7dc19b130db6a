#include "quantization/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "distance/distance.h"
#include "distance/half.h"
#include "distance/reference.h"

namespace farvec::quantization {
namespace {

using layout::ReductionKind;
using layout::SecondCopyFacts;

std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::vector<std::byte> row_of(const std::vector<float>& values, ElementType type) {
  std::vector<std::byte> row(packed_bytes(type, values.size()));
  distance::narrow(values.data(), type, static_cast<std::uint32_t>(values.size()), row.data());
  return row;
}

SecondCopyFacts facts_of(ElementType from, ReductionKind kind, std::vector<float> parameters) {
  return {.metric = Metric::l2,
          .source_type = from,
          .type = from,
          .reduction = kind,
          .parameters = std::move(parameters)};
}

TEST(Reduction, ABitIsSetWhereTheElementIsAboveItsThreshold) {
  for (const std::uint32_t dimension : {1u, 7u, 8u, 9u, 255u, 256u, 257u, 600u}) {
    for (const ElementType from : {ElementType::f32, ElementType::f16, ElementType::i8}) {
      std::vector<float> values = normal_values(dimension, dimension);
      std::vector<float> thresholds = normal_values(dimension, 2 * dimension + 1);
      if (from == ElementType::i8) {
        for (float& value : values) value = std::round(40 * value);
        for (float& value : thresholds) value = std::round(40 * value);
      }
      thresholds.front() = values.front();  // equal is not above
      const std::vector<std::byte> row = row_of(values, from);
      if (from == ElementType::f16) {
        thresholds.front() = static_cast<float>(distance::reference::element(row.data(), from, 0));
      }
      const Reduction reduction(facts_of(from, ReductionKind::bits, thresholds), ElementType::b1,
                                dimension);
      std::vector<std::byte> out(reduction.bytes() + 1, std::byte{0xff});
      reduction.reduce(row.data(), out.data());
      for (std::uint32_t i = 0; i < dimension; ++i) {
        const double value = distance::reference::element(row.data(), from, i);
        EXPECT_EQ(distance::reference::element(out.data(), ElementType::b1, i),
                  value > static_cast<double>(thresholds[i]) ? 1 : 0)
            << "element " << i << " of " << dimension;
      }
      for (std::uint32_t i = dimension; i < 8 * reduction.bytes(); ++i) {
        EXPECT_EQ(distance::reference::element(out.data(), ElementType::b1, i), 0) << i;
      }
      EXPECT_EQ(out.back(), std::byte{0xff});
    }
  }
}

TEST(Reduction, RoundsElementsTimesItsFactor) {
  constexpr std::uint32_t kLong = 301;
  const std::vector<float> values = normal_values(kLong, 3);
  const VectorView rows = packed_view(values.data(), 1, kLong, ElementType::f32);
  const float factor = rounding_factor(rows, ElementType::i8, 2);
  const auto largest = std::ranges::max(values, {}, [](float value) { return std::abs(value); });
  EXPECT_FLOAT_EQ(std::abs(largest) * factor, 127);
  const Reduction reduction(facts_of(ElementType::f32, ReductionKind::rounded, {factor}),
                            ElementType::i8, kLong);
  std::vector<std::byte> out(reduction.bytes());
  reduction.reduce(reinterpret_cast<const std::byte*>(values.data()), out.data());
  for (std::uint32_t i = 0; i < kLong; ++i) {
    EXPECT_EQ(distance::reference::element(out.data(), ElementType::i8, i),
              std::nearbyint(values[i] * factor));
  }
}

TEST(Reduction, TheFactorFitsAllRows) {
  std::vector<float> values = normal_values(6000, 4);
  for (float& value : values) value = std::abs(value);
  values[5555] = 51;
  const VectorView rows = packed_view(values.data(), 2000, 3, ElementType::f32);
  EXPECT_FLOAT_EQ(rounding_factor(rows, ElementType::u8, 3), 5);
  EXPECT_EQ(rounding_factor(rows, ElementType::f16, 3), 1);
  values[17] = -0.5f;
  EXPECT_THROW((void)rounding_factor(rows, ElementType::u8, 3), Error);
  std::ranges::fill(values, 0.0f);
  EXPECT_THROW((void)rounding_factor(rows, ElementType::i8, 3), Error);
}

TEST(Reduction, TheFactorBringsRowsIntoTheRangeOfHalves) {
  for (const float size : {1e5f, 1e18f, 1e-9f, 1e-30f}) {
    std::vector<float> values = normal_values(40, 5);
    for (float& value : values) value *= size;
    const VectorView rows = packed_view(values.data(), 4, 10, ElementType::f32);
    const float factor = rounding_factor(rows, ElementType::f16, 1);
    const Reduction reduction(facts_of(ElementType::f32, ReductionKind::rounded, {factor}),
                              ElementType::f16, 40);
    std::vector<std::byte> out(reduction.bytes());
    reduction.reduce(reinterpret_cast<const std::byte*>(values.data()), out.data());
    for (std::uint32_t i = 0; i < 40; ++i) {
      EXPECT_NEAR(distance::reference::element(out.data(), ElementType::f16, i),
                  static_cast<double>(values[i]) * static_cast<double>(factor), 1e-3);
    }
  }
}

TEST(Reduction, ElementsBeyondTheTypeBecomeItsLargest) {
  const std::vector<float> query = {1e30f, -1e30f, 70000, 1};
  for (const ElementType type : {ElementType::f16, ElementType::i8}) {
    const Reduction reduction(facts_of(ElementType::f32, ReductionKind::rounded, {2}), type, 4);
    std::vector<std::byte> out(reduction.bytes());
    reduction.reduce(reinterpret_cast<const std::byte*>(query.data()), out.data());
    const bool halves = type == ElementType::f16;
    const double expected[] = {halves ? 65504.0 : 127.0, halves ? -65504.0 : -128.0,
                               halves ? 65504.0 : 127.0, 2};
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(distance::reference::element(out.data(), type, i), expected[i]) << i;
    }
  }
}

TEST(Reduction, RefusesElementsForWhichAFloatHasNoFactor) {
  const std::vector<float> values = {1e-41f, -2e-41f};
  const VectorView rows = packed_view(values.data(), 1, 2, ElementType::f32);
  for (const ElementType type : {ElementType::i8, ElementType::f16}) {
    EXPECT_THROW((void)rounding_factor(rows, type, 1), Error);
  }
}

TEST(Reduction, RowsOfAnyKindHaveAFactorWhereThatIsAskedFor) {
  const auto factor = [](float value, ElementType type) {
    const VectorView rows = packed_view(&value, 1, 1, ElementType::f32);
    return rounding_factor(rows, type, 1, RoundedRows::any);
  };
  for (const ElementType type : {ElementType::i8, ElementType::u8, ElementType::f16}) {
    EXPECT_EQ(factor(0, type), 1);
    EXPECT_EQ(factor(1e-41f, type), std::numeric_limits<float>::max());
  }
  EXPECT_EQ(factor(-51, ElementType::u8), 5) << "what is below 0 becomes 0";
  EXPECT_EQ(Reduction(facts_of(ElementType::f32, ReductionKind::rounded, {5}), ElementType::i8, 1)
                .factor(),
            5);
  EXPECT_EQ(
      Reduction(facts_of(ElementType::f32, ReductionKind::bits, {5}), ElementType::b1, 1).factor(),
      1);
}

}  // namespace
}  // namespace farvec::quantization
