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
#include "layout/cluster/cluster_geometry.h"
#include "layout/region/region_bytes.h"

namespace farvec::layout {

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
