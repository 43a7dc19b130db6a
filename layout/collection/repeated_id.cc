#include "layout/collection/repeated_id.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace farvec::layout {

std::optional<std::uint64_t> repeated_id(std::span<const std::uint64_t> ids) {
  if (std::ranges::adjacent_find(ids, std::ranges::greater_equal()) == ids.end()) return {};
  std::vector<std::uint64_t> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  return twice == sorted.end() ? std::nullopt : std::optional(*twice);
}

}  // namespace farvec::layout
