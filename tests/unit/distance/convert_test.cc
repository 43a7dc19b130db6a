// widen, narrow, to_stored and the half-precision conversions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "base/stored_form.h"
#include "distance/distance.h"
#include "distance/half.h"
#include "distance/kernels/kernels.h"
#include "distance/reference.h"
#include "tests/unit/distance/guarded_row.h"

namespace farvec::distance {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> halves(1 << 16);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  return halves;
}

/// The definition, by powers of two.
double half_value(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa == 0 ? sign * kInfinity : std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Half, EveryValueWidensExactly) {
  for (const std::uint16_t half : all_halves()) {
    const double expected = half_value(half);
    const float actual = half_to_float(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual));
    } else {
      ASSERT_EQ(static_cast<double>(actual), expected) << half;
      ASSERT_EQ(std::signbit(actual), (half & 0x8000) != 0) << half;
    }
  }
}

TEST(Half, EveryNumberComesBack) {
  for (const std::uint16_t half : all_halves()) {
    const bool nan = (half & 0x7fff) > 0x7c00;
    const std::uint16_t quiet = nan ? 0x0200 : 0;
    ASSERT_EQ(float_to_half(half_to_float(half)), half | quiet) << half;
  }
}

/// Between two neighbouring halves: below the middle, above it, and the middle itself, which goes
/// to the even one.
TEST(Half, RoundsToNearestEven) {
  for (std::uint16_t low = 0; low < 0x7bff; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const auto middle = static_cast<float>((half_value(low) + half_value(high)) / 2);
    const std::uint16_t even = low % 2 == 0 ? low : high;
    ASSERT_EQ(float_to_half(middle), even) << low;
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0f)), low) << low;
    ASSERT_EQ(float_to_half(std::nextafter(middle, kInfinity)), high) << low;
    ASSERT_EQ(float_to_half(-middle), even | 0x8000) << low;
  }
}

TEST(Half, OverflowAndUnderflow) {
  EXPECT_EQ(float_to_half(65504.0f), 0x7bff);
  EXPECT_EQ(float_to_half(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(-std::numeric_limits<float>::max()), 0xfc00);
  EXPECT_EQ(float_to_half(kInfinity), 0x7c00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  EXPECT_EQ(float_to_half(0x1p-25f), 0);
  EXPECT_EQ(float_to_half(0x1.000002p-25f), 1);
}

TEST(Half, EveryInstructionSetGivesTheSameBits) {
  const std::vector<std::uint16_t> halves = all_halves();
  const auto count = static_cast<std::uint32_t>(halves.size());
  std::vector<float> floats(count);
  Random random(1);
  for (float& f : floats) f = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
  for (const Isa isa : available_isas()) {
    const kernels::KernelTable table = kernels::table_for(isa, 1);
    std::vector<float> wide(count);
    table.widen_f16(halves.data(), count, wide.data());
    std::vector<std::uint16_t> narrowed(count);
    table.narrow_f16(floats.data(), count, narrowed.data());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]),
                std::bit_cast<std::uint32_t>(half_to_float(halves[i])))
          << to_string(isa) << ' ' << i;
      ASSERT_EQ(narrowed[i], float_to_half(floats[i])) << to_string(isa) << ' ' << floats[i];
    }
  }
}

TEST(Half, RowsOfAnyLengthStayWithinTheirMemory) {
  GuardedMemory halves(4096), floats(4096);
  for (const Isa isa : available_isas()) {
    const kernels::KernelTable table = kernels::table_for(isa, 1);
    for (std::uint32_t d = 1; d <= 70; ++d) {
      std::byte* row = halves.row(d * 2);
      auto* wide = reinterpret_cast<float*>(floats.row(d * 4));
      for (std::uint32_t i = 0; i < d; ++i) wide[i] = static_cast<float>(i) - 20.5f;
      table.narrow_f16(wide, d, row);
      std::memset(wide, 0, d * 4);
      table.widen_f16(row, d, wide);
      for (std::uint32_t i = 0; i < d; ++i) ASSERT_EQ(wide[i], static_cast<float>(i) - 20.5f);
    }
  }
}

TEST(Convert, EightBitValuesSurviveBothWays) {
  std::vector<std::uint8_t> bytes(256), back(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  std::vector<float> wide(256);
  for (const ElementType type : {ElementType::u8, ElementType::i8}) {
    widen(bytes.data(), type, 256, wide.data());
    EXPECT_EQ(wide[200], type == ElementType::u8 ? 200.0f : -56.0f);
    narrow(wide.data(), type, 256, back.data());
    EXPECT_EQ(bytes, back);
  }
}

TEST(Convert, IntegersAreRoundedAndClamped) {
  const std::vector<float> values = {-1e30f, -129, -128.5f, -0.5f,  0.5f,      1.5f,
                                     2.5f,   127,  127.5f,  255.5f, kInfinity, std::nanf("")};
  const auto d = static_cast<std::uint32_t>(values.size());
  std::vector<std::uint8_t> u8(d);
  narrow(values.data(), ElementType::u8, d, u8.data());
  EXPECT_EQ(u8, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 2, 2, 127, 128, 255, 255, 0}));
  std::vector<std::int8_t> i8(d);
  narrow(values.data(), ElementType::i8, d, i8.data());
  EXPECT_EQ(i8, (std::vector<std::int8_t>{-128, -128, -128, 0, 0, 2, 2, 127, 127, 127, 127, 0}));
}

TEST(Convert, FloatsAreCopied) {
  const std::vector<float> values = {1.5f, -0.0f, kInfinity};
  std::vector<float> wide(3), back(3);
  widen(values.data(), ElementType::f32, 3, wide.data());
  narrow(wide.data(), ElementType::f32, 3, back.data());
  EXPECT_EQ(values, wide);
  EXPECT_EQ(values, back);
}

TEST(Stored, OtherMetricsCopy) {
  const std::vector<std::uint8_t> row = {3, 4, 255};
  std::vector<std::uint8_t> out(3);
  to_stored(row.data(), ElementType::u8, Metric::l2, 3, out.data());
  EXPECT_EQ(out, row);
}

TEST(Stored, CosineGivesUnitVectors) {
  Random random(4);
  for (const std::uint32_t d : {1u, 3u, 255u, 256u, 257u, 1000u, 4096u, 16384u}) {
    for (const ElementType type :
         {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
      std::vector<float> values(d);
      for (float& v : values) v = static_cast<float>(1 + random.uniform() * 100);
      std::vector<std::byte> row(d * 4), out(d * 4);
      narrow(values.data(), type, d, row.data());
      to_stored(row.data(), type, Metric::cosine, d, out.data());
      const ElementType target = stored_type(Metric::cosine, type);
      const double tolerance = target == ElementType::f16 ? 2e-3 : 1e-6;
      EXPECT_NEAR(reference::dot(out.data(), out.data(), target, d), 1.0, tolerance) << d;
      const double ratio =
          reference::element(out.data(), target, 0) / reference::element(row.data(), type, 0);
      const double norm = std::sqrt(reference::dot(row.data(), row.data(), type, d));
      EXPECT_NEAR(ratio * norm, 1.0, tolerance);
    }
  }
}

TEST(Stored, CosineOfExtremeRows) {
  const std::vector<float> zero(5, 0.0f);
  std::vector<float> out(5, 9.0f);
  to_stored(zero.data(), ElementType::f32, Metric::cosine, 5, out.data());
  EXPECT_EQ(out, zero);
  const std::vector<float> huge(5, 3e38f), tiny(5, 1e-45f);
  for (const auto* row : {&huge, &tiny}) {
    to_stored(row->data(), ElementType::f32, Metric::cosine, 5, out.data());
    EXPECT_NEAR(out[0], 1 / std::sqrt(5.0), 1e-6);
  }
}

}  // namespace
}  // namespace farvec::distance
