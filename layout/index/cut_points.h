// CutPoints says where a region of records may be cut so that no read crosses the cut.
#pragma once

#include <cstdint>

#include "layout/cluster/cluster_layout.h"
#include "layout/graph/graph_layout.h"

namespace farvec::layout {

/// Cuts are allowed between a graph's records, and between a cluster index's groups and lists.
/// Borrows the locator.
class CutPoints {
 public:
  CutPoints(const GraphLocator& graph) : graph_(&graph) {}
  CutPoints(const ClusterLocator& clusters) : clusters_(&clusters) {}

  std::uint64_t region_bytes() const {
    return graph_ != nullptr ? graph_->region_bytes() : clusters_->region_bytes();
  }
  /// Returns the most bytes between two cuts.
  std::uint64_t largest_piece() const;
  /// Returns the first cut at or after `offset`; region_bytes() when there is none before the end.
  std::uint64_t at_or_after(std::uint64_t offset) const;

 private:
  std::uint64_t graph_cut(std::uint64_t offset) const;
  std::uint64_t cluster_cut(std::uint64_t offset) const;
  std::uint64_t begin_of_cluster(ClusterId cluster) const;

  const GraphLocator* graph_ = nullptr;
  const ClusterLocator* clusters_ = nullptr;
};

}  // namespace farvec::layout
