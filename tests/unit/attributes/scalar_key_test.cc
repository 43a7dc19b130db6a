#include "attributes/scalar_key.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace farvec::attributes {
namespace {

using layout::ColumnType;
using Limits = std::numeric_limits<double>;

TEST(ScalarKey, FollowsTheOrderOfDoubles) {
  const std::vector<double> ascending = {-Limits::infinity(),
                                         Limits::lowest(),
                                         -1.5,
                                         -Limits::denorm_min(),
                                         0.0,
                                         Limits::denorm_min(),
                                         1.0,
                                         std::nextafter(1.0, 2.0),
                                         Limits::max(),
                                         Limits::infinity()};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    EXPECT_EQ(number_of(key_of(ascending[i])), ascending[i]);
  }
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(key_of(ascending[i - 1]), key_of(ascending[i]));
  }
  EXPECT_EQ(key_of(-0.0), key_of(0.0));
  EXPECT_FALSE(std::signbit(number_of(key_of(-0.0))));
  EXPECT_EQ(keys_of(ColumnType::f64),
            (KeyRange{key_of(-Limits::infinity()), key_of(Limits::infinity())}));
}

TEST(ScalarKey, NeighboursHaveNeighbouringKeys) {
  for (double number : {-Limits::infinity(), -2.0, -Limits::denorm_min(), 0.0, 1.0}) {
    for (int i = 0; i < 4; ++i) {
      const double next = std::nextafter(number, Limits::infinity());
      EXPECT_EQ(key_of(next), key_of(number) + 1) << number;
      number = next;
    }
  }
}

TEST(ScalarKey, FollowsTheOrderOfIntegers) {
  const std::vector<std::int64_t> ascending = {INT64_MIN, -1, 0, 1, INT64_MAX};
  for (const ColumnType type : {ColumnType::i64, ColumnType::timestamp}) {
    for (std::size_t i = 1; i < ascending.size(); ++i) {
      EXPECT_LT(key_of(type, static_cast<std::uint64_t>(ascending[i - 1])),
                key_of(type, static_cast<std::uint64_t>(ascending[i])));
    }
  }
  EXPECT_EQ(literal_of(ColumnType::i64, 0), "-9223372036854775808");
  EXPECT_EQ(literal_of(ColumnType::u64, UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(literal_of(ColumnType::timestamp, 0), "-9223372036854775808");
  EXPECT_EQ(literal_of(ColumnType::timestamp, kSignBit), "'1970-01-01T00:00:00Z'");
  EXPECT_EQ(literal_of(ColumnType::f64, key_of(0.1)), "0.1");
  EXPECT_EQ(literal_of(ColumnType::boolean, 1), "true");
}

}  // namespace
}  // namespace farvec::attributes
