// Parses numbers, sizes, shares and switches in the forms that command lines give them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace farvec {

/// What parse_bytes() takes, for help texts.
inline constexpr const char* kSizeForms =
    "bytes, or with B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (of 1024)";

/// Parses a whole number of bytes, 0 included: "65536", "64KB", "1.5GiB". Throws Error naming
/// `option`.
std::uint64_t parse_bytes(std::string_view text, std::string_view option);

/// Parses the number before the percent sign, more than 0 and at most 100: "20%", "0.5%". Throws
/// Error naming `option`.
double parse_percent(std::string_view text, std::string_view option);

/// Parses a share from 0 to 1, both included: "0%", "50%". Throws Error naming `option`.
double parse_share(std::string_view text, std::string_view option);

/// Parses a whole number: "42". Throws Error naming `option`.
std::uint64_t parse_number(std::string_view text, std::string_view option);

/// A unit of a quantity, and what one of it is in the unit that a program counts in.
struct QuantityUnit {
  std::string_view name;
  double factor = 1;
};
inline constexpr std::array kTimeUnits = {  ///< microseconds
    QuantityUnit{"ns", 1e-3}, QuantityUnit{"us", 1}, QuantityUnit{"ms", 1e3}};
inline constexpr std::array kBandwidthUnits = {  ///< 1e9 bytes a second
    QuantityUnit{"MB/s", 1e-3}, QuantityUnit{"GB/s", 1}};
inline constexpr std::array kRateUnits = {  ///< a microsecond
    QuantityUnit{"K/s", 1e-3}, QuantityUnit{"M/s", 1}, QuantityUnit{"G/s", 1e3}};

/// Parses the value of a key, a number of at least 0 with one of the units: "5us". Throws Error
/// naming the key.
double parse_with_unit(std::string_view key, std::string_view text,
                       std::span<const QuantityUnit> units);

/// Parses a switch: "on" or "off". Throws Error naming `option`.
bool parse_switch(std::string_view text, std::string_view option);

}  // namespace farvec
