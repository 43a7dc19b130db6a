#include "measure/advise/target.h"

#include <algorithm>

namespace farvec::measure {
namespace {

struct Tried {
  std::uint32_t parameter = 0;
  Searched searched;
};

Reached between(const Tried& below, const Tried& above, double recall) {
  const double width = above.searched.recall - below.searched.recall;
  const double share = width > 0 ? (recall - below.searched.recall) / width : 1;
  Reached reached;
  reached.parameter = below.parameter + share;
  for (std::size_t i = 0; i < kCounts; ++i) {
    reached.counts[i] =
        below.searched.counts[i] + share * (above.searched.counts[i] - below.searched.counts[i]);
  }
  return reached;
}

}  // namespace

std::optional<Reached> reach(const std::function<Searched(std::uint32_t)>& search,
                             std::uint32_t least, std::uint32_t most, double recall) {
  Tried above{least, search(least)};
  if (above.searched.recall >= recall) return Reached{double(least), above.searched.counts};
  Tried below;
  while (above.searched.recall < recall) {
    if (above.parameter >= most) return std::nullopt;
    below = above;
    above.parameter = std::min(std::uint64_t{above.parameter} * 2, std::uint64_t{most});
    above.searched = search(above.parameter);
  }
  while (above.parameter - below.parameter > 1) {
    const std::uint32_t middle = below.parameter + (above.parameter - below.parameter) / 2;
    const Tried tried{middle, search(middle)};
    (tried.searched.recall >= recall ? above : below) = tried;
  }
  return between(below, above, recall);
}

}  // namespace farvec::measure
