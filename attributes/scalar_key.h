// Keys stand for scalars: words of 64 bits that are in the order of the values, whatever the type.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include "attributes/key_ranges.h"
#include "layout/attributes/schema.h"

namespace farvec::attributes {

inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

/// Returns the key of a number that is not NaN. The two zeros have one key, and neighbouring
/// numbers have neighbouring keys.
constexpr std::uint64_t key_of(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);
  return (bits & kSignBit) != 0 ? ~bits : (bits | kSignBit) - 1;
}
constexpr double number_of(std::uint64_t key) {
  return std::bit_cast<double>(key >= kSignBit - 1 ? (key + 1) & ~kSignBit : ~key);
}

/// Returns the key of a scalar from its word in a tuple.
constexpr std::uint64_t key_of(layout::ColumnType type, std::uint64_t word) {
  switch (type) {
    case layout::ColumnType::i64:
    case layout::ColumnType::timestamp:
      return word ^ kSignBit;
    case layout::ColumnType::f64:
      return key_of(std::bit_cast<double>(word));
    default:
      return word;
  }
}

/// Returns the keys of all values of a scalar type.
constexpr KeyRange keys_of(layout::ColumnType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (type) {
    case layout::ColumnType::f64:
      return {key_of(-kInfinity), key_of(kInfinity)};
    case layout::ColumnType::boolean:
      return {0, 1};
    default:
      return {0, std::numeric_limits<std::uint64_t>::max()};
  }
}

/// Returns the literal that has this key.
std::string literal_of(layout::ColumnType type, std::uint64_t key);

}  // namespace farvec::attributes
