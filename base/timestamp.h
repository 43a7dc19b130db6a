// Timestamps are microseconds since 1970-01-01 00:00 UTC; here they come from ISO 8601 and go back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace farvec {

/// What parse_timestamp() takes, for messages.
inline constexpr const char* kTimestampForms =
    "a date 2024-05-01, or a time 2024-05-01T12:00:00 with up to six digits of a fraction, and "
    "with "
    "Z, +02:00 or nothing for UTC; years 0001 to 9999";

/// The first microsecond of the year 1, and the last of the year 9999.
inline constexpr std::int64_t kLeastTimestamp = -62'135'596'800'000'000;
inline constexpr std::int64_t kMostTimestamp = 253'402'300'799'999'999;

/// Parses ISO 8601 as kTimestampForms says; a space may stand for the T. Returns nothing for every
/// other text: a day that the month does not have, a leap second, a seventh digit of a fraction, or
/// an offset that leads out of the years.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

/// Writes "2024-05-01T12:00:00Z", with six digits of a fraction where there is one. What lies out
/// of the years 0 to 9999 gets a year with a sign, which parse_timestamp() does not read.
std::string timestamp_text(std::int64_t microseconds);

}  // namespace farvec
