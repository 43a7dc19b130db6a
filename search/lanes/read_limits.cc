#include "search/lanes/read_limits.h"

#include <algorithm>

#include "base/error.h"

namespace farvec::search {

void require_readable(const layout::GraphLocator& locator, const ReadLimits& limits) {
  const std::uint32_t bytes = locator.geometry().max_record_bytes();
  if (bytes <= limits.read_bytes) return;
  throw Error(
      "a record has up to {} bytes, and one read from {} brings at most {}: use another tier",
      bytes, limits.tier, limits.read_bytes);
}

void require_readable(const layout::ClusterLocator& locator, const ReadLimits& limits) {
  for (ClusterId c = 0; c < locator.geometry().clusters; ++c) {
    const std::uint64_t bytes =
        std::max({locator.list(c).bytes, locator.group(c).bytes, locator.whole(c).bytes,
                  std::uint64_t{locator.geometry().record_bytes()}});
    if (bytes <= limits.read_bytes) continue;
    throw Error(
        "cluster {} has {} bytes that are read at once, and one read from {} brings at most {}: "
        "build more clusters",
        c, bytes, limits.tier, limits.read_bytes);
  }
}

std::uint32_t longest_list(const layout::ClusterLocator& locator) {
  std::uint32_t longest = 0;
  for (ClusterId c = 0; c < locator.geometry().clusters; ++c) {
    longest = std::max(longest, locator.entry(c).list_addresses);
  }
  return longest;
}

}  // namespace farvec::search
