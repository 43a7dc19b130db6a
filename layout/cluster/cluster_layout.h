// A ClusterLocator says where a cluster's vectors and addresses are in the region of a cluster
// index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/memory.h"
#include "base/status.h"
#include "base/types.h"
#include "layout/region/region_bytes.h"

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

struct ByteRange {
  std::uint64_t offset = 0;  ///< counts from the start of the region
  std::uint64_t bytes = 0;
};

/// A vector's place in the region's payload, counted in records.
using Address = std::uint32_t;

/// Returns the low 32 bits of XXH3-64 over a list's addresses, and over the codes before them where
/// records have checksums, seeded with the cluster. It ends every list.
std::uint32_t list_checksum(std::span<const std::byte> addresses, ClusterId cluster);

/// Returns the low 32 bits of XXH3-64 over a record's vector and id.
std::uint32_t vector_checksum(std::span<const std::byte> bytes);

/// Finds and reads the clusters of one index. Immutable, shared by all threads of a process.
class ClusterLocator {
 public:
  /// Takes over `table`, in which the entries of all clusters begin at `offset`, a multiple of 8.
  /// Throws Error when geometry and table do not fit each other.
  ClusterLocator(ClusterGeometry geometry, HugeBuffer table, std::size_t offset,
                 std::uint64_t region_bytes);

  const ClusterGeometry& geometry() const { return geometry_; }
  std::uint64_t region_bytes() const { return region_bytes_; }
  std::size_t dram_bytes() const { return table_.size(); }

  /// Needs cluster < geometry().clusters, which is not checked.
  const ClusterEntry& entry(ClusterId cluster) const { return entries_[cluster]; }
  ByteRange list(ClusterId cluster) const {
    const ClusterEntry& entry = entries_[cluster];
    return {entry.list_offset, geometry_.list_bytes(entry)};
  }
  ByteRange group(ClusterId cluster) const {
    const ClusterEntry& entry = entries_[cluster];
    return {entry.group_offset, std::uint64_t{entry.group_records} * record_bytes_};
  }
  /// Returns list and group when one read brings both, with the group right after the list; else
  /// empty.
  ByteRange whole(ClusterId cluster) const {
    if (geometry_.kind != ClusterLayoutKind::grouped_inline) return {};
    const ByteRange group = this->group(cluster);
    const std::uint64_t begin = list(cluster).bytes > 0 ? list(cluster).offset : group.offset;
    return {begin, group.offset + group.bytes - begin};
  }

  /// Returns the bytes that the reads of list and group bring together.
  std::uint64_t cluster_bytes(ClusterId cluster) const {
    return std::max(whole(cluster).bytes, list(cluster).bytes + group(cluster).bytes);
  }

  /// Writes the list's addresses, in ascending order, to `out`, which has room for
  /// entry(cluster).list_addresses of them. Returns data_loss when the length is not the list's,
  /// its checksum does not match, or an address is beyond the region.
  Status read_list(ClusterId cluster, std::span<const std::byte> bytes, Address* out) const;

  /// Returns the codes with which the list of a coded cluster begins: first those of its group's
  /// records in their order, then those of its strays in the order of their addresses.
  static const std::byte* codes(std::span<const std::byte> list) { return list.data(); }

  std::uint64_t offset_of(Address address) const {
    return kRegionHeaderBytes + std::uint64_t{address} * record_bytes_;
  }
  /// Returns the first address of a cluster's group; addresses of a group are consecutive. Not for
  /// the coupled layout.
  Address first_of_group(ClusterId cluster) const {
    return static_cast<Address>((entries_[cluster].group_offset - kRegionHeaderBytes) /
                                record_bytes_);
  }
  /// All addresses are below this.
  std::uint64_t address_limit() const {
    return (region_bytes_ - kRegionHeaderBytes) / record_bytes_;
  }

  /// Returns the records in `bytes` (a whole number of them) as rows of vectors.
  VectorView rows(std::span<const std::byte> bytes, std::uint32_t dimension,
                  ElementType type) const {
    return {bytes.data(), bytes.size() / record_bytes_, dimension, type, record_bytes_};
  }
  /// Compares the checksums of some rows of rows(); true at once when records have none.
  bool intact(const VectorView& rows, std::span<const std::uint32_t> picks) const;

  /// Returns the largest cluster_bytes().
  std::uint64_t max_cluster_bytes() const { return max_cluster_bytes_; }
  std::uint32_t max_members() const { return max_members_; }

 private:
  /// Says where the parts of the clusters checked so far end.
  struct Ends {
    std::uint64_t groups;  ///< groups, with the lists that are read with them
    std::uint64_t lists;   ///< lists that are apart
  };

  /// Returns the number of members that the table says, which may be more than
  /// ClusterEntry::members() can count.
  std::uint64_t list_and_group(ClusterId cluster) const {
    return std::uint64_t{entries_[cluster].list_addresses} + entries_[cluster].group_records;
  }
  void check() const;
  bool is_inside(ClusterId cluster) const;
  bool has_right_parts(ClusterId cluster) const;
  Ends first_ends() const;
  bool follows(ClusterId cluster, Ends& ends) const;

  ClusterGeometry geometry_;
  std::uint32_t record_bytes_;
  std::uint64_t region_bytes_;
  HugeBuffer table_;
  const ClusterEntry* entries_;
  std::uint64_t max_cluster_bytes_ = 0;
  std::uint32_t max_members_ = 0;
};

}  // namespace farvec::layout
