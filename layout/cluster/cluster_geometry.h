// This file names the layouts of a cluster index, and has what fixes the shape of its records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/types.h"

namespace farvec::layout {

/// coupled: every cluster holds the records of all its members, replicas too, in whole blocks.
/// decoupled: every vector once, in the order of ids; a cluster holds the addresses of its members.
/// grouped: every vector once, in the group of its home cluster; a cluster holds the addresses of
/// its members that are at home elsewhere, its strays.
/// grouped_inline: grouped, each cluster's addresses just before its group.
/// coded: grouped, each cluster's addresses after the codes of all its members, strays too.
enum class ClusterLayoutKind : std::uint8_t {
  coupled = 0,
  decoupled = 1,
  grouped = 2,
  grouped_inline = 3,
  coded = 4
};

/// The most clusters that one vector is in.
inline constexpr std::uint32_t kMaxReplicas = 8;

inline constexpr ClusterLayoutKind kClusterLayouts[] = {
    ClusterLayoutKind::coupled, ClusterLayoutKind::decoupled, ClusterLayoutKind::grouped,
    ClusterLayoutKind::grouped_inline, ClusterLayoutKind::coded};

/// The number of members of a cluster whose codes make one block.
inline constexpr std::uint32_t kCodeBlock = 32;

/// Returns "coupled", "decoupled", "grouped", "grouped-inline", "coded".
std::string_view to_string(ClusterLayoutKind kind);
/// Throws Error naming the accepted words.
ClusterLayoutKind parse_cluster_layout(std::string_view text);

/// A ClusterEntry is one line of the cluster table: where the parts of a cluster are. Offsets count
/// from the start of the records region. On disk and in a backing; little-endian; see
/// docs/format.md.
struct ClusterEntry {
  std::uint64_t group_offset = 0;   ///< offset of the first record
  std::uint64_t list_offset = 0;    ///< offset of the list
  std::uint32_t group_records = 0;  ///< records one after another
  std::uint32_t list_addresses = 0;

  std::uint32_t members() const { return group_records + list_addresses; }
};
static_assert(sizeof(ClusterEntry) == 24);
static_assert(offsetof(ClusterEntry, group_records) == 16);

/// A ClusterGeometry is all that fixes the shape of a cluster index's records region.
struct ClusterGeometry {
  ClusterLayoutKind kind = ClusterLayoutKind::grouped;
  /// A record ends with 4 bytes of checksum over its bytes.
  bool record_checksum = false;
  std::uint32_t vector_bytes = 0;
  std::uint32_t clusters = 0;
  std::uint32_t block_bytes = 4096;  ///< in the coupled layout
  std::uint32_t address_bytes = 4;   ///< 3 or 4; in the other layouts
  std::uint64_t count = 0;           ///< number of vectors
  std::uint64_t members = 0;         ///< in all clusters together; replicas count
  // Used in the coded layout, else 0. The layout does not know what a block holds.
  std::uint32_t code_bits = 0;         ///< bits per dimension
  std::uint32_t code_block_bytes = 0;  ///< bytes of the codes of kCodeBlock members

  /// Returns the bytes of a record: the vector, its id, and a checksum if there are any.
  std::uint32_t record_bytes() const { return vector_bytes + 4u + (record_checksum ? 4u : 0u); }
  bool decouples() const { return kind != ClusterLayoutKind::coupled; }
  bool has_codes() const { return kind == ClusterLayoutKind::coded; }
  /// Says whether every vector is in the group of one of its clusters.
  bool groups() const { return decouples() && kind != ClusterLayoutKind::decoupled; }
  /// Lists are after all records.
  bool lists_apart() const { return decouples() && kind != ClusterLayoutKind::grouped_inline; }
  /// Returns the bytes of the codes of a cluster's members, in whole blocks: the place in its list
  /// where the addresses begin.
  std::uint64_t code_bytes(const ClusterEntry& entry) const {
    const std::uint64_t coded = std::uint64_t{entry.group_records} + entry.list_addresses;
    return (coded + kCodeBlock - 1) / kCodeBlock * code_block_bytes;
  }
  /// Returns the bytes of a cluster's list: codes if there are any, addresses, and the checksum
  /// that ends it; 0 where there are neither codes nor addresses.
  std::uint64_t list_bytes(const ClusterEntry& entry) const {
    const std::uint64_t bytes =
        code_bytes(entry) + std::uint64_t{entry.list_addresses} * address_bytes;
    return bytes == 0 ? 0 : bytes + sizeof(std::uint32_t);
  }
  /// Throws Error saying which field is out of range.
  void validate() const;
};

}  // namespace farvec::layout
