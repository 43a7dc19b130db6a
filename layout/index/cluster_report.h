// A ClusterReport says what a cluster index costs and how its clusters are made, computed from its
// manifest and table.
#pragma once

#include <cstdint>

#include "layout/cluster/cluster_layout.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

/// A SizeReport is the spread, over all clusters, of a size that every cluster has.
struct SizeReport {
  std::uint32_t least = 0;
  std::uint32_t p50 = 0;
  std::uint32_t p90 = 0;
  std::uint32_t p99 = 0;
  std::uint32_t most = 0;
  double mean = 0;
};

struct ClusterReport {
  double amplification = 0;          ///< bytes of the records region over the data set's bytes
  double coupled_amplification = 0;  ///< the same for these clusters in the coupled layout
  double total_amplification = 0;    ///< with centroids, table and second copy included
  double compute_dram_bytes_per_vector = 0;  ///< centroids and table, in stored form
  double clusters_per_vector = 0;
  double stray_share = 0;  ///< the share of all members that clusters have by address
  std::uint32_t empty_clusters = 0;
  SizeReport members;
  SizeReport groups;
  SizeReport strays;
};

ClusterReport cluster_report(const Manifest& manifest, const ClusterLocator& locator);

}  // namespace farvec::layout
