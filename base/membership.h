// Which clusters every vector is in: the shape in which a clustering crosses a room's border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace farvec {

/// Borrowed. Vector v is in clusters of(v): its own cluster first, then replicas by distance, no
/// cluster twice, at least one. Produced by cluster/, encoded by layout/.
struct MembershipView {
  std::span<const std::uint64_t> begins;  ///< count() + 1, ascending from 0
  std::span<const ClusterId> clusters;    ///< begins.back() of them

  std::size_t count() const { return begins.empty() ? 0 : begins.size() - 1; }
  std::span<const ClusterId> of(std::size_t v) const {
    return clusters.subspan(begins[v], begins[v + 1] - begins[v]);
  }
};

}  // namespace farvec
