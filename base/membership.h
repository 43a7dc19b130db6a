// A MembershipView says which clusters every vector is in. Rooms hand a clustering to each other in
// this shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace farvec {

/// It is borrowed. Vector v is in the clusters of(v), at least one and none twice: its own cluster
/// first, then replicas in order of distance. Produced by cluster/, encoded by layout/.
struct MembershipView {
  std::span<const std::uint64_t> begins;  ///< count() + 1, ascending from 0
  std::span<const ClusterId> clusters;    ///< begins.back() clusters

  std::size_t count() const { return begins.empty() ? 0 : begins.size() - 1; }
  std::span<const ClusterId> of(std::size_t v) const {
    return clusters.subspan(begins[v], begins[v + 1] - begins[v]);
  }
};

}  // namespace farvec
