// What the targets of cluster indexes share: a small index, and its bytes by hand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/memory.h"
#include "layout/cluster/cluster_layout.h"

namespace farvec::fuzz {

inline constexpr std::uint32_t kClusters = 6;
inline constexpr std::uint32_t kVectorBytes = 5;

/// Begins an input of layout_cluster_table_fuzz: behind it come kClusters entries, then the
/// region's payload.
struct ClusterInput {
  std::uint8_t kind = 0;
  std::uint8_t checksums = 0;
  std::uint8_t address_bytes = 3;
  std::uint8_t count = 0;
  std::uint16_t members = 0;
  std::uint16_t spare = 0;
};
static_assert(sizeof(ClusterInput) == 8);

inline constexpr std::uint32_t kCodeBlockBytes = 64;

inline layout::ClusterGeometry geometry_of(const ClusterInput& input) {
  layout::ClusterGeometry geometry;
  geometry.kind = layout::kClusterLayouts[input.kind % std::size(layout::kClusterLayouts)];
  geometry.record_checksum = input.checksums % 2 == 1;
  geometry.vector_bytes = kVectorBytes;
  geometry.clusters = kClusters;
  geometry.block_bytes = 512;
  geometry.address_bytes = input.address_bytes;
  geometry.count = input.count;
  geometry.members = input.members;
  if (geometry.has_codes()) {
    geometry.code_bits = 1;
    geometry.code_block_bytes = kCodeBlockBytes;
  }
  return geometry;
}

/// The input's bytes where nothing lies behind them.
inline HugeBuffer copy_of(std::span<const std::byte> input) {
  HugeBuffer copy(input.size());
  std::copy(input.begin(), input.end(), copy.data());
  return copy;
}

}  // namespace farvec::fuzz
