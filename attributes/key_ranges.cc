#include "attributes/key_ranges.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace farvec::attributes {
namespace {

constexpr std::uint64_t kLastKey = std::numeric_limits<std::uint64_t>::max();

/// Says whether a range that begins at `first` continues one that ends at `last`.
bool continues(std::uint64_t last, std::uint64_t first) {
  return last == kLastKey || first <= last + 1;
}

}  // namespace

KeyRanges::KeyRanges(std::vector<KeyRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (const KeyRange& range : ranges) {
    if (!ranges_.empty() && continues(ranges_.back().last, range.first)) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

bool KeyRanges::contains(std::uint64_t key) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), key,
                       [](std::uint64_t k, const KeyRange& range) { return k < range.first; });
  return after != ranges_.begin() && key <= std::prev(after)->last;
}

std::uint64_t KeyRanges::count_up_to(std::uint64_t most) const {
  std::uint64_t count = 0;
  for (const auto& [first, last] : ranges_) {
    if (last - first >= most - count) return most;
    count += last - first + 1;
  }
  return count;
}

KeyRanges KeyRanges::united(const KeyRanges& other) const {
  std::vector<KeyRange> all = ranges_;
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  return KeyRanges(std::move(all));
}

KeyRanges KeyRanges::common(const KeyRanges& other) const {
  KeyRanges result;
  auto one = ranges_.begin();
  auto two = other.ranges_.begin();
  while (one != ranges_.end() && two != other.ranges_.end()) {
    const KeyRange range{std::max(one->first, two->first), std::min(one->last, two->last)};
    if (range.first <= range.last) result.ranges_.push_back(range);
    if (one->last < two->last) {
      ++one;
    } else {
      ++two;
    }
  }
  return result;
}

KeyRanges KeyRanges::complement(KeyRange domain) const {
  KeyRanges result;
  std::uint64_t next = domain.first;
  for (const auto& [first, last] : ranges_) {
    if (first > next) result.ranges_.push_back({next, first - 1});
    if (last >= domain.last) return result;
    next = last + 1;
  }
  result.ranges_.push_back({next, domain.last});
  return result;
}

}  // namespace farvec::attributes
