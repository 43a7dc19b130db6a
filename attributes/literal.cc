#include "attributes/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "attributes/scalar_key.h"
#include "base/timestamp.h"

namespace farvec::attributes {
namespace {

using layout::ColumnType;

/// The farthest that a decimal point can be, far beyond what any column holds.
constexpr long kFarthestPoint = 100'000;
/// Integers of more digits are beyond 64 bits.
constexpr long kMostIntegerDigits = 20;
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

/// A Decimal is 0.DIGITS times 10^point. The digits begin and end with another one than 0.
struct Decimal {
  bool negative = false;
  bool infinite = false;
  bool integer = true;  ///< written without a point and an exponent
  std::string digits;
  long point = 0;

  bool is_zero() const { return digits.empty() && !infinite; }
  bool has_fraction() const { return static_cast<long>(digits.size()) > point; }
  /// Returns the digits before the point.
  std::string whole() const {
    std::string text = digits.substr(0, static_cast<std::size_t>(std::max(point, 0L)));
    text.resize(static_cast<std::size_t>(std::max(point, 0L)), '0');
    return text;
  }
};

long exponent_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  long exponent = 0;
  for (const char digit : text) {
    exponent = std::min(10 * exponent + (digit - '0'), kFarthestPoint);
  }
  return negative ? -exponent : exponent;
}

void strip_zeros(Decimal& decimal) {
  const std::size_t first = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
  decimal.digits.erase(0, first);
  decimal.point -= static_cast<long>(first);
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  if (decimal.digits.empty()) decimal.point = 0;
}

Decimal decimal_of(std::string_view text) {
  Decimal decimal;
  decimal.negative = text.starts_with('-');
  if (decimal.negative || text.starts_with('+')) text.remove_prefix(1);
  decimal.infinite = text.starts_with('i') || text.starts_with('I');
  if (decimal.infinite) return decimal;
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  decimal.integer = point == text.size();
  decimal.digits = mantissa.substr(0, point);
  if (point < mantissa.size()) decimal.digits += mantissa.substr(point + 1);
  decimal.point = static_cast<long>(point);
  if (e < text.size()) decimal.point += exponent_of(text.substr(e + 1));
  strip_zeros(decimal);
  return decimal;
}

/// Returns the digits before the point as a number; nothing where 64 bits do not hold it.
std::optional<std::uint64_t> magnitude_of(const Decimal& decimal) {
  if (decimal.infinite || decimal.point > kMostIntegerDigits) return std::nullopt;
  const std::string whole = decimal.whole();
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), magnitude);
  if (!whole.empty() && error != std::errc()) return std::nullopt;
  return magnitude;
}

Cut cut_above(std::uint64_t key, std::uint64_t last) {
  if (key == last) return {std::nullopt, false};
  return {key + 1, false};
}

Cut cut_in_u64(const Decimal& decimal) {
  const KeyRange all = keys_of(ColumnType::u64);
  if (decimal.negative && !decimal.is_zero()) return {all.first, false};
  const auto magnitude = magnitude_of(decimal);
  if (!magnitude) return {std::nullopt, false};
  if (decimal.has_fraction()) return cut_above(*magnitude, all.last);
  return {*magnitude, true};
}

Cut cut_in_i64(const Decimal& decimal) {
  const auto magnitude = magnitude_of(decimal);
  const bool fraction = decimal.has_fraction();
  if (decimal.negative) {
    if (!magnitude || *magnitude > kSignBit) return {0, false};
    return {kSignBit - *magnitude, !fraction};
  }
  if (!magnitude || *magnitude >= kSignBit) return {std::nullopt, false};
  if (fraction) return cut_above(kSignBit + *magnitude, ~std::uint64_t{0});
  return {kSignBit + *magnitude, true};
}

/// Returns how the integer stands to `number`, which is the nearest one to it: below, at or above.
int order_of_integer(const Decimal& decimal, double number) {
  if (std::abs(number) < kExactIntegers) return 0;
  const std::string exact = fmt::format("{:.0f}", std::abs(number));
  const std::string whole = decimal.whole();
  const int order =
      whole.size() != exact.size() ? (whole.size() < exact.size() ? -1 : 1) : whole.compare(exact);
  return decimal.negative ? -order : order;
}

/// Is for a number that is too large, or too small and not 0, for f64.
Cut cut_beyond_f64(const Decimal& decimal) {
  using Limits = std::numeric_limits<double>;
  if (decimal.point > 0)
    return {key_of(decimal.negative ? Limits::lowest() : Limits::infinity()), false};
  return {key_of(decimal.negative ? 0.0 : Limits::denorm_min()), false};
}

Cut cut_in_f64(const Decimal& decimal, std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (decimal.infinite) return {key_of(decimal.negative ? -kInfinity : kInfinity), true};
  if (decimal.is_zero()) return {key_of(0.0), true};
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || std::isinf(number) || number == 0) return cut_beyond_f64(decimal);
  if (!decimal.integer) return {key_of(number), true};
  const int order = order_of_integer(decimal, number);
  return {key_of(number) + (order > 0 ? 1 : 0), order == 0};
}

KeyRanges keys_below(const Cut& literal, KeyRange all) {
  if (!literal.at) return KeyRanges({all});
  if (*literal.at == all.first) return {};
  return KeyRanges({{all.first, *literal.at - 1}});
}

KeyRanges keys_equal(const Cut& literal) {
  if (!literal.exact) return {};
  return KeyRanges({{*literal.at, *literal.at}});
}

/// Only the years 1 to 9999 have a text.
std::string literal_of_timestamp(std::int64_t micros) {
  if (micros < kLeastTimestamp || micros > kMostTimestamp) return fmt::format("{}", micros);
  return "'" + timestamp_text(micros) + "'";
}

}  // namespace

Cut cut_of_number(std::string_view number, ColumnType type) {
  const Decimal decimal = decimal_of(number);
  if (type == ColumnType::u64) return cut_in_u64(decimal);
  if (type == ColumnType::f64) return cut_in_f64(decimal, number);
  return cut_in_i64(decimal);
}

KeyRanges keys_where(Comparison comparison, const Cut& literal, ColumnType type) {
  const KeyRange all = keys_of(type);
  switch (comparison) {
    case Comparison::equal:
      return keys_equal(literal);
    case Comparison::not_equal:
      return keys_equal(literal).complement(all);
    case Comparison::less:
      return keys_below(literal, all);
    case Comparison::greater_equal:
      return keys_below(literal, all).complement(all);
    case Comparison::less_equal:
      return keys_below(literal, all).united(keys_equal(literal));
    case Comparison::greater:
      return keys_below(literal, all).united(keys_equal(literal)).complement(all);
  }
  return {};
}

std::string literal_of(ColumnType type, std::uint64_t key) {
  switch (type) {
    case ColumnType::f64:
      return fmt::format("{}", number_of(key));
    case ColumnType::boolean:
      return key == 0 ? "false" : "true";
    case ColumnType::timestamp:
      return literal_of_timestamp(static_cast<std::int64_t>(key ^ kSignBit));
    case ColumnType::i64:
      return fmt::format("{}", static_cast<std::int64_t>(key ^ kSignBit));
    default:
      return fmt::format("{}", key);
  }
}

}  // namespace farvec::attributes
