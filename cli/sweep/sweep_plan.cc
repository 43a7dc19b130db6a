#include "cli/sweep/sweep_plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/quantity.h"

namespace farvec::cli {
namespace {

/// How a search is done, without where and how it runs.
std::vector<SweepPoint> searches(const SweepAxes& axes) {
  std::vector<SweepPoint> result;
  SweepPoint point;
  for (const search::SearchChoice& choice : axes.choices) {
    point.choice = choice;
    for (const search::DiskChoice& disk : axes.disks) {
      point.disk = disk;
      result.push_back(point);
    }
  }
  return result;
}

}  // namespace

std::vector<SweepPoint> SweepAxes::points() const {
  std::vector<SweepPoint> result;
  std::size_t group = 0;
  for (SweepPoint point : searches(*this)) {
    for (auto cache : cache_bytes) {
      for (auto slot : slots) {
        for (auto thread : threads) {
          for (std::size_t tier = 0; tier < tiers; ++tier) {
            point.group = group;
            point.tier = tier;
            point.threads = thread;
            point.slots = slot;
            point.cache_bytes = cache;
            result.push_back(point);
          }
          ++group;
        }
      }
    }
  }
  return result;
}

VectorView rows_in(const VectorView& rows, const RowRange& range) {
  return rows.part(range.begin, range.end - range.begin);
}

RowRange parse_range(const std::string& text, std::size_t count, const char* option) {
  if (text.empty()) return {0, count};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw Error("{}: '{}' is not of the form A:B", option, text);
  const std::string first = text.substr(0, colon);
  const std::string last = text.substr(colon + 1);
  RowRange range{0, count};
  if (!first.empty()) range.begin = parse_number(first, option);
  if (!last.empty()) range.end = parse_number(last, option);
  if (range.begin >= range.end || range.end > count) {
    throw Error("{}: {}:{} is empty or beyond the {} that there are", option, range.begin,
                range.end, count);
  }
  return range;
}

RowRange parse_id_range(const std::string& text, std::size_t end) {
  if (text.empty() || text.back() == ':') {
    throw Error("--range: '{}' has no end: say A:B for the ids from A to B - 1", text);
  }
  return parse_range(text, end, "--range");
}

}  // namespace farvec::cli
