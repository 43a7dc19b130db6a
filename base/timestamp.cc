#include "base/timestamp.h"

#include <fmt/format.h>

#include <chrono>

namespace farvec {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

/// Days after which the calendar repeats, and their years.
constexpr std::int64_t kEraDays = 146'097;
constexpr std::int64_t kEraYears = 400;

/// Takes a text apart from its front. What is not there makes it fail, and then it stays failed.
class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool skip(char c) {
    if (next() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void require(char c) { ok_ = skip(c) && ok_; }
  bool has_digit() const { return next() >= '0' && next() <= '9'; }

  /// Takes a number of this many digits, no more and no fewer, which is at most `most`.
  int number(int digits, int most) {
    int value = 0;
    for (int i = 0; i < digits; ++i) value = value * 10 + digit();
    ok_ = ok_ && value <= most;
    return value;
  }
  /// Takes 1 to 6 digits after a point.
  microseconds fraction() {
    int value = digit();
    int digits = 1;
    for (; has_digit() && digits < 6; ++digits) value = value * 10 + digit();
    for (; digits < 6; ++digits) value *= 10;
    return microseconds(value);
  }

 private:
  int digit() {
    ok_ = ok_ && has_digit();
    if (!ok_) return 0;
    const int value = next() - '0';
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
  bool ok_ = true;
};

microseconds take_date(Scan& scan, bool& exists) {
  const std::chrono::year year(scan.number(4, 9999));
  scan.require('-');
  const std::chrono::month month(static_cast<unsigned>(scan.number(2, 12)));
  scan.require('-');
  const year_month_day date(year, month,
                            std::chrono::day(static_cast<unsigned>(scan.number(2, 31))));
  exists = date.ok();
  return exists ? sys_days(date).time_since_epoch() : microseconds(0);
}

minutes take_hours(Scan& scan) {
  const hours whole(scan.number(2, 23));
  scan.require(':');
  return whole + minutes(scan.number(2, 59));
}

microseconds take_time(Scan& scan) {
  microseconds time = take_hours(scan);
  scan.require(':');
  time += seconds(scan.number(2, 59));
  return scan.skip('.') ? time + scan.fraction() : time;
}

/// Takes how much the time is ahead of UTC.
minutes take_offset(Scan& scan) {
  if (scan.at_end() || scan.skip('Z')) return minutes(0);
  if (scan.skip('-')) return -take_hours(scan);
  scan.require('+');
  return take_hours(scan);
}

/// Writes the date of a day counted from 1970-01-01.
std::string date_text(days day) {
  const std::int64_t era = (day.count() - (day.count() < 0 ? kEraDays - 1 : 0)) / kEraDays;
  // The library's years end at 32767, so it is asked for a date of the same kind after 1970.
  const year_month_day date(sys_days(day - days(era * kEraDays)));
  const std::int64_t year = static_cast<int>(date.year()) + era * kEraYears;
  const bool plain = year >= 0 && year <= 9999;
  return fmt::format("{}-{:02}-{:02}",
                     plain ? fmt::format("{:04}", year) : fmt::format("{:+}", year),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  Scan scan(text);
  bool exists = false;
  microseconds time = take_date(scan, exists);
  if (!scan.at_end()) {
    if (!scan.skip(' ')) scan.require('T');
    time += take_time(scan);
    time -= take_offset(scan);
  }
  const std::int64_t count = time.count();
  const bool within = count >= kLeastTimestamp && count <= kMostTimestamp;
  if (!scan.ok() || !scan.at_end() || !exists || !within) return std::nullopt;
  return count;
}

std::string timestamp_text(std::int64_t count) {
  constexpr std::int64_t kDay = microseconds(days(1)).count();
  const auto day = std::chrono::floor<days>(microseconds(count));
  // A day before 1970 may begin before the least number, so the time is not count - day * kDay.
  const std::chrono::hh_mm_ss time{microseconds((count % kDay + kDay) % kDay)};
  std::string text = fmt::format("{}T{:02}:{:02}:{:02}", date_text(day), time.hours().count(),
                                 time.minutes().count(), time.seconds().count());
  if (time.subseconds().count() != 0) text += fmt::format(".{:06}", time.subseconds().count());
  return text + 'Z';
}

}  // namespace farvec
