// These functions say where the files beside a placed index are: they are not cut, and each of the
// first nodes has all of them.
#pragma once

#include <cstdint>
#include <span>

#include "layout/index/placement.h"

namespace farvec::layout {

/// Says whether a node of a placement has the files.
constexpr bool holds_files(std::uint32_t node) {
  return node < PlacedExtent::kMaxCopies;
}

/// Adds regions of these lengths after those that there are, of which the nodes that hold files
/// each have a copy; the first is the one to read while it lives. A region that is shorter than a
/// header counts as long as one.
void add_files(Placement& placement, std::span<const std::uint64_t> file_bytes);

}  // namespace farvec::layout
