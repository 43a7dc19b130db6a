#include "cli/sweep/sweep_plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/quantity.h"
#include "cli/report/measurement.h"

namespace farvec::cli {
namespace {

/// What a search may choose, without where and how it runs.
std::vector<SweepPoint> choices(const SweepAxes& axes) {
  std::vector<SweepPoint> result;
  SweepPoint point;
  if (axes.probes.empty()) {
    for (auto list : axes.lists) {
      for (auto width : axes.widths) {
        point.choice = search::GraphChoice{.list = list, .width = width};
        for (const search::DiskChoice& disk : axes.disks) {
          point.disk = disk;
          result.push_back(point);
        }
      }
    }
    return result;
  }
  for (auto clusters : axes.probes) {
    for (const bool dedup : axes.dedups) {
      point.choice = search::ProbeChoice{clusters, axes.prune_ratio, dedup};
      for (const search::DiskChoice& disk : axes.disks) {
        point.disk = disk;
        result.push_back(point);
      }
    }
  }
  return result;
}

}  // namespace

std::vector<SweepPoint> SweepAxes::points() const {
  std::vector<SweepPoint> result;
  std::size_t group = 0;
  for (SweepPoint point : choices(*this)) {
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

double percentile(std::vector<float>& values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const std::size_t index = std::clamp<std::size_t>(rank, 1, values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return static_cast<double>(values[index]);
}

}  // namespace farvec::cli
