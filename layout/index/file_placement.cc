#include "layout/index/file_placement.h"

#include <algorithm>
#include <vector>

#include "layout/index/second_copy.h"

namespace farvec::layout {

Placement place_index(const Manifest& manifest, const CutPoints& cuts,
                      const PlacementOptions& options) {
  Placement placement = make_placement(cuts, manifest.region_bytes(), options);
  if (manifest.second_copy) {
    const SecondCopyGeometry rows = second_copy_geometry(manifest);
    placement.regions.push_back(
        place_rows(rows.offset_of(0), rows.row_bytes(), rows.file_bytes(), options));
  }
  return placement;
}

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
