#include "layout/index/file_placement.h"

#include <algorithm>
#include <vector>

namespace farvec::layout {

void add_files(Placement& placement, std::span<const std::uint64_t> file_bytes) {
  PlacedExtent whole;
  whole.copy_count = std::min(placement.nodes, PlacedExtent::kMaxCopies);
  for (std::uint32_t node = 0; node < whole.copy_count; ++node) whole.copies[node] = {node, 0};
  for (const std::uint64_t bytes : file_bytes) {
    placement.regions.emplace_back(std::vector{whole}, std::max(bytes, kRegionHeaderBytes),
                                   placement.nodes, "the placement");
  }
}

}  // namespace farvec::layout
