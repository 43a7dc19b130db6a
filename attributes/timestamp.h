// These functions read and write timestamps, microseconds since 1970-01-01 00:00 UTC, as a date, or
// a date and a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace farvec::attributes {

/// A moment that a text names. Digits after the sixth one of a fraction may put it between two
/// microseconds.
struct Moment {
  std::int64_t micros = 0;  ///< the microsecond that it is, or comes after
  bool exact = true;
};

/// Parses "2024-05-01", "2024-05-01T12:00" and "2024-05-01 12:00:00.25+02:00", from the year 1 to
/// 9999. Without an offset it is UTC, as with Z. Returns nothing where the text is something else.
std::optional<Moment> parse_moment(std::string_view text);

/// Writes what parse_moment() reads, as short as it goes. Returns nothing outside of the years 1 to
/// 9999.
std::optional<std::string> moment_text(std::int64_t micros);

}  // namespace farvec::attributes
