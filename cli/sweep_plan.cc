#include "cli/sweep_plan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace farvec::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::uint64_t parse_number(const std::string& text, const std::string& what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw Error("{}: '{}' is not a whole number", what, text);
  }
  return value;
}

}  // namespace

std::vector<SweepPoint> SweepAxes::points() const {
  std::vector<SweepPoint> result;
  for (auto list : lists) {
    for (auto width : widths) {
      for (auto cache : cache_bytes) {
        for (auto slot : slots) {
          for (auto thread : threads) {
            for (std::size_t tier = 0; tier < tiers; ++tier) {
              result.push_back({tier, thread, slot, cache, width, list});
            }
          }
        }
      }
    }
  }
  return result;
}

std::vector<std::uint32_t> split_numbers(const std::string& text, const std::string& option,
                                         std::uint32_t least) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& part : split(text, ',')) {
    const std::uint64_t number = parse_number(part, option);
    if (number < least || number > std::numeric_limits<std::uint32_t>::max()) {
      throw Error("{}: {} is out of range: use {} or more", option, number, least);
    }
    numbers.push_back(static_cast<std::uint32_t>(number));
  }
  return numbers;
}

std::vector<std::size_t> split_bytes(const std::string& text, const std::string& option) {
  std::vector<std::size_t> sizes;
  for (const std::string& part : split(text, ',')) sizes.push_back(parse_number(part, option));
  return sizes;
}

RowRange parse_range(const std::string& text, std::size_t count) {
  if (text.empty()) return {0, count};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw Error("--queries-range: '{}' is not of the form A:B", text);
  }
  const std::string first = text.substr(0, colon);
  const std::string last = text.substr(colon + 1);
  RowRange range{0, count};
  if (!first.empty()) range.begin = parse_number(first, "--queries-range");
  if (!last.empty()) range.end = parse_number(last, "--queries-range");
  if (range.begin >= range.end || range.end > count) {
    throw Error("--queries-range: {}:{} is empty or beyond the {} queries", range.begin, range.end,
                count);
  }
  return range;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

double percentile(std::vector<float>& values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const std::size_t index = std::clamp<std::size_t>(rank, 1, values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return static_cast<double>(values[index]);
}

}  // namespace farvec::cli
