#include "ssd_baseline/paged/placement/partition_rank.h"

#include <algorithm>

namespace farvec::paged {

void rank_partitions(std::span<const std::uint32_t> tags, std::vector<PartitionOverlap>& ranked) {
  ranked.clear();
  for (const std::uint32_t tag : tags) {
    if (tag == 0) continue;
    const auto same = [&](const PartitionOverlap& o) { return o.partition == tag - 1; };
    const auto found = std::find_if(ranked.begin(), ranked.end(), same);
    if (found == ranked.end()) {
      ranked.push_back({tag - 1, 1});
    } else {
      ++found->neighbors;
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const PartitionOverlap& a, const PartitionOverlap& b) {
    return a.neighbors != b.neighbors ? a.neighbors > b.neighbors : a.partition < b.partition;
  });
}

}  // namespace farvec::paged
