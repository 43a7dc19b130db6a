#include "collection/build/merge_policy.h"

#include <map>

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

}  // namespace

std::vector<std::size_t> choose_merge(const std::vector<SegmentSize>& segments,
                                      const MergePolicy& policy) {
  std::map<std::uint32_t, std::vector<std::size_t>> levels;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    levels[level_of(segments[i].live, policy)].push_back(i);
  }
  for (auto& [level, members] : levels) {
    if (members.size() >= policy.fanout) return members;
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SegmentSize& size = segments[i];
    const double changed = static_cast<double>(size.rows - size.live + size.updated);
    if (changed > policy.out_share * static_cast<double>(size.rows)) return {i};
  }
  return {};
}

}  // namespace farvec::collection
