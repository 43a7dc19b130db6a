#include "collection/build/merge_policy.h"

#include <algorithm>
#include <map>
#include <utility>

namespace farvec::collection {
namespace {

/// Returns 0 up to one memtable, 1 up to `fanout` of them, and so on.
std::uint32_t level_of(std::uint64_t live, const MergePolicy& policy) {
  std::uint32_t level = 0;
  for (std::uint64_t memtables = live / policy.memtable_rows; memtables >= policy.fanout;
       memtables /= policy.fanout) {
    ++level;
  }
  return level;
}

/// Returns as many of these as may be merged together, ascending: the smallest ones.
std::vector<std::size_t> within_most(std::vector<std::size_t> members,
                                     const std::vector<SegmentSize>& segments,
                                     const MergePolicy& policy) {
  if (policy.most_rows == 0) return members;
  std::ranges::stable_sort(
      members, [&](auto one, auto other) { return segments[one].live < segments[other].live; });
  std::uint64_t rows = 0;
  std::size_t count = 0;
  while (count < members.size() && rows + segments[members[count]].live <= policy.most_rows) {
    rows += segments[members[count++]].live;
  }
  members.resize(count);
  std::ranges::sort(members);
  return members;
}

}  // namespace

std::vector<std::size_t> choose_merge(const std::vector<SegmentSize>& segments,
                                      const MergePolicy& policy) {
  std::map<std::uint32_t, std::vector<std::size_t>> levels;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    levels[level_of(segments[i].live, policy)].push_back(i);
  }
  for (auto& [level, members] : levels) {
    std::vector<std::size_t> together = within_most(std::move(members), segments, policy);
    if (together.size() >= policy.fanout) return together;
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SegmentSize& size = segments[i];
    const double changed = static_cast<double>(size.rows - size.live + size.updated);
    if (changed > policy.out_share * static_cast<double>(size.rows)) return {i};
  }
  return {};
}

}  // namespace farvec::collection
