#include "base/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace farvec {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                          {"B", 1},
                                          {"KB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000},
                                          {"KiB", std::uint64_t{1} << 10},
                                          {"MiB", std::uint64_t{1} << 20},
                                          {"GiB", std::uint64_t{1} << 30},
                                          {"TiB", std::uint64_t{1} << 40}}};
/// Larger values are no size of anything; sums of two such values still fit.
constexpr double kMostBytes = static_cast<double>(std::uint64_t{1} << 62);

/// The number with which `text` begins, and its length; the length is 0 when there is none.
std::pair<double, std::size_t> leading_number(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) return {0, 0};
  return {number, static_cast<std::size_t>(end - text.data())};
}

/// The number before a percent sign that ends `text`; -1 when `text` has another form.
double percentage(std::string_view text) {
  const auto [number, length] = leading_number(text);
  return length > 0 && text.substr(length) == "%" ? number : -1;
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text, std::string_view option) {
  const auto [number, length] = leading_number(text);
  for (const Unit& unit : kUnits) {
    if (length == 0 || text.substr(length) != unit.name) continue;
    const double bytes = number * static_cast<double>(unit.bytes);
    // Fractions of a byte are refused, but not those that come from the binary form of a number
    // like 0.1.
    const double whole = std::round(bytes);
    if (!(number >= 0) || bytes > kMostBytes || std::abs(bytes - whole) > 1e-6) break;
    return static_cast<std::uint64_t>(whole);
  }
  throw Error("{}: '{}' is no size: use whole {}", option, text, kSizeForms);
}

double parse_percent(std::string_view text, std::string_view option) {
  const double number = percentage(text);
  if (!(number > 0 && number <= 100)) {
    throw Error("{}: '{}' is no share: use more than 0% and at most 100%", option, text);
  }
  return number;
}

double parse_share(std::string_view text, std::string_view option) {
  const double number = percentage(text);
  if (!(number >= 0 && number <= 100)) {
    throw Error("{}: '{}' is no share: use 0% to 100%", option, text);
  }
  return number / 100;
}

std::uint64_t parse_number(std::string_view text, std::string_view option) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw Error("{}: '{}' is not a whole number", option, text);
  }
  return value;
}

double parse_with_unit(std::string_view key, std::string_view text,
                       std::span<const QuantityUnit> units) {
  double number = 0;
  std::size_t used = 0;
  try {
    number = std::stod(std::string(text), &used);
  } catch (const std::exception&) {
    throw Error("'{}={}': no number", key, text);
  }
  std::string names;
  for (const QuantityUnit& unit : units) {
    if (text.substr(used) == unit.name && std::isfinite(number) && number >= 0) {
      return number * unit.factor;
    }
    names += names.empty() ? unit.name : ", " + std::string(unit.name);
  }
  throw Error("'{}={}': expected a number with one of the units: {}", key, text, names);
}

bool parse_switch(std::string_view text, std::string_view option) {
  if (text != "on" && text != "off") throw Error("{}: '{}' is neither on nor off", option, text);
  return text == "on";
}

}  // namespace farvec
