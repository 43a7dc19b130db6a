// AffineSets remembers which vertices are near each other, from the searches that a build makes
// anyway. Source: VeloANN, Algorithm 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "graph/candidate_list.h"

namespace farvec::graph {

struct AffinityOptions {
  /// Two vertices are affine up to this squared distance (BuildSpace::squared()).
  float threshold = 0;
  std::uint32_t limit = 0;  ///< affine vertices kept for each vertex; 0: none are looked for
};

/// Holds up to `limit` affine vertices for each vertex, nearest first. Only vertices that the
/// search for the vertex expanded are in it, so a pair may be recorded at one of its vertices
/// alone. Rows may be written by different threads.
class AffineSets {
 public:
  AffineSets() = default;
  AffineSets(std::size_t count, const AffinityOptions& options)
      : options_(options), ids_(count * options.limit, kInvalidNode) {}

  bool empty() const { return ids_.empty(); }
  std::size_t count() const { return options_.limit == 0 ? 0 : ids_.size() / options_.limit; }
  const AffinityOptions& options() const { return options_; }

  std::span<const NodeId> of(std::size_t v) const {
    const auto row = std::span(ids_).subspan(v * options_.limit, options_.limit);
    return row.first(
        static_cast<std::size_t>(std::find(row.begin(), row.end(), kInvalidNode) - row.begin()));
  }

  /// `sorted` is in order of distance from v, without v, and no vertex is in it twice.
  void set(std::size_t v, std::span<const Neighbor> sorted) {
    const auto row = std::span(ids_).subspan(v * options_.limit, options_.limit);
    std::size_t kept = 0;
    while (kept < row.size() && kept < sorted.size() &&
           sorted[kept].distance <= options_.threshold) {
      row[kept] = sorted[kept].id;
      ++kept;
    }
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(kept), row.end(), kInvalidNode);
  }

 private:
  AffinityOptions options_;
  std::vector<NodeId> ids_;
};

}  // namespace farvec::graph
