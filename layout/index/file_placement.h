// These functions place an index with what is beside it. A second copy of its vectors is cut
// between rows. Files are not cut, and each of the first nodes has all of them.
#pragma once

#include <cstdint>
#include <span>

#include "layout/index/manifest.h"
#include "layout/index/placement.h"

namespace farvec::layout {

/// Does what make_placement() does for the index's regions, and places its second copy after them,
/// where it has one. Throws what make_placement() throws.
Placement place_index(const Manifest& manifest, const CutPoints& cuts,
                      const PlacementOptions& options);

/// Says whether a node of a placement has the files.
constexpr bool holds_files(std::uint32_t node) {
  return node < PlacedExtent::kMaxCopies;
}

/// Adds regions of these lengths after those that there are, of which the nodes that hold files
/// each have a copy; the first is the one to read while it lives. A region that is shorter than a
/// header counts as long as one.
void add_files(Placement& placement, std::span<const std::uint64_t> file_bytes);

}  // namespace farvec::layout
