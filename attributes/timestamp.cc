#include "attributes/timestamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace farvec::attributes {
namespace {

using namespace std::chrono;

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr int kFirstYear = 1;
constexpr int kLastYear = 9999;
constexpr std::size_t kFractionDigits = 6;

/// Takes a text apart from its front. After the first thing that is missing it is not `whole`.
class MomentReader {
 public:
  explicit MomentReader(std::string_view text) : rest_(text) {}

  bool whole() const { return whole_ && rest_.empty(); }
  bool at_end() const { return rest_.empty(); }
  bool starts_with_any(std::string_view chars) const {
    return !rest_.empty() && chars.find(rest_.front()) != std::string_view::npos;
  }
  char take_any(std::string_view chars) {
    if (!starts_with_any(chars)) {
      whole_ = false;
      return '\0';
    }
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }
  /// Takes a number of exactly `digits` digits, which is at most `most`.
  int take_number(int digits, int most) {
    int number = 0;
    for (int i = 0; i < digits; ++i) {
      const char digit = take_any("0123456789");
      if (digit == '\0') return 0;
      number = 10 * number + (digit - '0');
    }
    if (number > most) whole_ = false;
    return number;
  }
  std::string_view take_digits() {
    const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::string_view digits = rest_.substr(0, count);
    rest_.remove_prefix(count);
    if (digits.empty()) whole_ = false;
    return digits;
  }
  void fail() { whole_ = false; }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

std::int64_t take_days(MomentReader& reader) {
  const int y = reader.take_number(4, kLastYear);
  reader.take_any("-");
  const int m = reader.take_number(2, 12);
  reader.take_any("-");
  const int d = reader.take_number(2, 31);
  const year_month_day date{year(y), month(static_cast<unsigned>(m)),
                            day(static_cast<unsigned>(d))};
  if (y < kFirstYear || !date.ok()) {
    reader.fail();
    return 0;
  }
  return sys_days(date).time_since_epoch().count();
}

/// Returns the part of a second.
Moment take_fraction(MomentReader& reader) {
  reader.take_any(".");
  const std::string_view digits = reader.take_digits();
  Moment moment;
  for (std::size_t i = 0; i < kFractionDigits; ++i) {
    moment.micros = 10 * moment.micros + (i < digits.size() ? digits[i] - '0' : 0);
  }
  moment.exact = digits.find_first_not_of('0', kFractionDigits) == std::string_view::npos;
  return moment;
}

/// Returns the time since midnight.
Moment take_time(MomentReader& reader) {
  std::int64_t seconds = 3600 * reader.take_number(2, 23);
  reader.take_any(":");
  seconds += 60 * reader.take_number(2, 59);
  Moment moment;
  if (reader.starts_with_any(":")) {
    reader.take_any(":");
    seconds += reader.take_number(2, 59);
    if (reader.starts_with_any(".")) moment = take_fraction(reader);
  }
  moment.micros += seconds * kMicrosPerSecond;
  return moment;
}

std::int64_t take_offset_seconds(MomentReader& reader) {
  const char sign = reader.take_any("+-");
  const int hour = reader.take_number(2, 23);
  if (reader.starts_with_any(":")) reader.take_any(":");
  const int minute = reader.take_number(2, 59);
  return (sign == '-' ? -60 : 60) * (60 * hour + minute);
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text) {
  MomentReader reader(text);
  std::int64_t seconds = take_days(reader) * kSecondsPerDay;
  Moment moment;
  if (!reader.at_end()) {
    reader.take_any("Tt ");
    moment = take_time(reader);
    if (reader.starts_with_any("Zz")) {
      reader.take_any("Zz");
    } else if (!reader.at_end()) {
      seconds -= take_offset_seconds(reader);
    }
  }
  if (!reader.whole()) return std::nullopt;
  moment.micros += seconds * kMicrosPerSecond;
  return moment;
}

std::optional<std::string> moment_text(std::int64_t micros) {
  const sys_time<microseconds> time{microseconds(micros)};
  const sys_days midnight = floor<days>(time);
  constexpr sys_days kBegin{year(kFirstYear) / January / 1};
  constexpr sys_days kEnd{year(kLastYear) / December / 31};
  if (midnight < kBegin || midnight > kEnd) return std::nullopt;
  const year_month_day date{midnight};
  std::string text =
      fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  const hh_mm_ss<microseconds> clock{time - midnight};
  if (clock.to_duration().count() == 0) return text;
  text += fmt::format("T{:02}:{:02}:{:02}", clock.hours().count(), clock.minutes().count(),
                      clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:06}", clock.subseconds().count());
  return text + "Z";
}

}  // namespace farvec::attributes
