// What a cluster index costs and how its clusters are made, from its manifest and table.
#pragma once

#include <cstdint>

#include "layout/cluster/cluster_layout.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

/// The spread, over all clusters, of the size of something that every cluster has.
struct SizeReport {
  std::uint32_t least = 0;
  std::uint32_t p50 = 0;
  std::uint32_t p90 = 0;
  std::uint32_t p99 = 0;
  std::uint32_t most = 0;
  double mean = 0;
};

struct ClusterReport {
  double amplification = 0;                  ///< records region over the data set's bytes
  double coupled_amplification = 0;          ///< the same clusters, coupled
  double total_amplification = 0;            ///< with centroids and table
  double compute_dram_bytes_per_vector = 0;  ///< centroids and table, as stored
  double clusters_per_vector = 0;
  double stray_share = 0;  ///< of all members, those that clusters have by address
  std::uint32_t empty_clusters = 0;
  SizeReport members;
  SizeReport groups;
  SizeReport strays;
};

ClusterReport cluster_report(const Manifest& manifest, const ClusterLocator& locator);

}  // namespace farvec::layout
