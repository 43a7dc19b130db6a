// ClusterHomes say where each row of a cluster index is, for searches among rows that meet a
// condition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "cluster/cluster_matches.h"
#include "layout/cluster/cluster_layout.h"

namespace farvec::search {

/// It is immutable, and shared by all cores. It takes 4 bytes for each row: its address where rows
/// are in groups, otherwise the first cluster that has it.
class ClusterHomes {
 public:
  /// `region` is the whole records region, header included. Throws Error when its bytes contradict
  /// themselves or the locator.
  ClusterHomes(const layout::ClusterLocator& locator, std::span<const std::byte> region);

  /// `rows` ascend, and exist; the locator is that of the constructor. The result has places where
  /// records can be read one by one: in all layouts but the coupled one.
  cluster::ClusterMatches matches(const layout::ClusterLocator& locator,
                                  std::span<const NodeId> rows) const;

  std::size_t dram_bytes() const { return at_.capacity() * sizeof(std::uint32_t); }

 private:
  /// Where the rows are read from.
  struct Records {
    const layout::ClusterLocator& locator;
    std::span<const std::byte> region;
  };
  void take_group(const Records& records, ClusterId cluster);
  void take_list(const Records& records, ClusterId cluster);
  void put(NodeId row, std::uint32_t at, ClusterId cluster);
  cluster::ClusterMatches by_address(const layout::ClusterLocator& locator,
                                     std::span<const NodeId> rows) const;
  cluster::ClusterMatches by_home(const layout::ClusterGeometry& geometry,
                                  std::span<const NodeId> rows) const;

  std::vector<std::uint32_t> at_;  ///< [row]: its address, or its home where there are no groups
};

}  // namespace farvec::search
