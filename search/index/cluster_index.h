// A ClusterIndex is what a compute node keeps of a cluster index in its own DRAM: centroids, the
// table of clusters, and facts from the manifest. Vectors and addresses stay on the tier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.h"
#include "cluster/centroid_index.h"
#include "distance/distance.h"
#include "layout/cluster/cluster_layout.h"
#include "quantization/neighbor_codes.h"
#include "search/index/cluster_homes.h"

namespace farvec::search {

/// It is immutable after construction, except for find_homes(), and shared by all cores.
class ClusterIndex {
 public:
  struct Parts {
    Metric metric = Metric::l2;
    ElementType type = ElementType::f32;  ///< stored type
    std::uint32_t dimension = 0;
    layout::ClusterLocator locator;
    cluster::CentroidIndex centroids;
    std::optional<quantization::NeighborCodes> codes = {};  ///< codes of the coded layout
  };
  /// Throws Error when the parts do not fit together.
  explicit ClusterIndex(Parts parts);

  Metric metric() const { return parts_.metric; }
  ElementType type() const { return parts_.type; }
  std::uint32_t dimension() const { return parts_.dimension; }
  std::size_t count() const { return parts_.locator.geometry().count; }
  std::uint32_t clusters() const { return parts_.locator.geometry().clusters; }
  const layout::ClusterLocator& locator() const { return parts_.locator; }
  const cluster::CentroidIndex& centroids() const { return parts_.centroids; }
  distance::ManyKernel kernel() const { return kernel_; }
  /// Returns what estimates in a coded index need; null for other indexes.
  const quantization::NeighborCodes* codes() const {
    return parts_.codes ? &*parts_.codes : nullptr;
  }
  /// Computes the metric between a query and a centroid, both as floats; null where codes() is.
  distance::PairKernel centroid_kernel() const { return centroid_kernel_; }

  /// Learns where each row is, for matches(), from the whole records region. To be called before
  /// the first search, if at all. Throws Error when the region is damaged.
  void find_homes(std::span<const std::byte> region) { homes_.emplace(locator(), region); }
  /// Returns where these rows are, which ascend and exist; none without find_homes().
  std::optional<cluster::ClusterMatches> matches(std::span<const NodeId> rows) const {
    if (!homes_) return std::nullopt;
    return homes_->matches(locator(), rows);
  }

  std::uint64_t region_bytes() const { return parts_.locator.region_bytes(); }
  std::size_t location_bytes() const { return parts_.locator.dram_bytes(); }
  /// Returns the bytes of what find_homes() has learned.
  std::size_t home_bytes() const { return homes_ ? homes_->dram_bytes() : 0; }
  std::size_t dram_bytes() const {
    return location_bytes() + parts_.centroids.dram_bytes() + home_bytes();
  }

 private:
  Parts parts_;
  distance::ManyKernel kernel_;
  distance::PairKernel centroid_kernel_;
  std::optional<ClusterHomes> homes_;
};

}  // namespace farvec::search
