// Parses numbers, sizes, shares and switches in the forms that command lines give them.
#pragma once

#include <cstdint>
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

/// Parses a switch: "on" or "off". Throws Error naming `option`.
bool parse_switch(std::string_view text, std::string_view option);

}  // namespace farvec
