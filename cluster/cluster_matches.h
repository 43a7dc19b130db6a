// ClusterMatches say which rows of a cluster index meet a condition, by the clusters that have
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace farvec::cluster {

/// Each row that matches is counted once, in one of its clusters: its home. A search that reads all
/// matches of a cluster at home there finds them, and perhaps others.
struct ClusterMatches {
  std::vector<std::uint32_t> ends;  ///< [cluster]: matches at home there and in clusters before it
  /// The addresses of all matches: those of cluster c from ends[c - 1] to ends[c], ascending. Empty
  /// where matches are found in the clusters alone.
  std::vector<std::uint32_t> places;

  std::uint32_t holding = 0;  ///< clusters with matches at home

  std::uint32_t count() const { return ends.empty() ? 0 : ends.back(); }
  std::uint32_t begin_of(ClusterId cluster) const { return cluster == 0 ? 0 : ends[cluster - 1]; }
  std::uint32_t count_of(ClusterId cluster) const { return ends[cluster] - begin_of(cluster); }
  bool has_places() const { return !places.empty(); }
  std::span<const std::uint32_t> places_of(ClusterId cluster) const {
    return std::span(places).subspan(begin_of(cluster), count_of(cluster));
  }
  std::size_t dram_bytes() const {
    return (ends.capacity() + places.capacity()) * sizeof(std::uint32_t);
  }
};

}  // namespace farvec::cluster
