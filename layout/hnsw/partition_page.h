// The partition map leads from partitions of an HNSW graph to the pages that take their new
// vertices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "layout/store/page_format.h"

namespace farvec::layout {

/// A PartitionEntry is what the map has of one partition. The counts begin anew now and then, and
/// stay at their largest.
struct PartitionEntry {
  PageNumber insert_page = kNoPage;  ///< takes the partition's new vertices; kNoPage: none does
  std::uint16_t received = 0;        ///< vertices that went to the partition's insert pages
  std::uint16_t wished = 0;          ///< vertices that would have, but it had none

  bool operator==(const PartitionEntry&) const = default;
};
static_assert(sizeof(PartitionEntry) == 8 && offsetof(PartitionEntry, received) == 4);

/// A PartitionTupleHeader is the first bytes of the one tuple of such a page, at slot 0. Entries
/// follow, of partition `first`, of the next one, and so on to the end of the page or of the
/// partitions.
struct PartitionTupleHeader {
  std::uint32_t first = 0;
  std::uint32_t partitions = 0;  ///< in the whole map
};
static_assert(sizeof(PartitionTupleHeader) == 8);

/// A PartitionSlot is the place of a partition in the map.
struct PartitionSlot {
  /// Index of a page of the map, from 0; the pages of the map are consecutive.
  std::uint32_t page = 0;
  std::uint32_t offset = 0;  ///< offset of the entry in the tuple
};

/// A PartitionMapShape is what follows from the size of pages, and of entries.
struct PartitionMapShape {
  std::uint32_t page_bytes = 8192;
  /// The entries of graphs of format version 1 have no counts.
  std::uint32_t entry_bytes = sizeof(PartitionEntry);

  bool has_counts() const { return entry_bytes == sizeof(PartitionEntry); }
  /// Returns the partitions on a full page: 1,018 for 8 KiB.
  std::uint32_t capacity() const { return (page_bytes - kReserved) / entry_bytes; }
  /// Returns the pages of a map; 0 without partitions.
  std::uint32_t pages(std::uint32_t partitions) const {
    return partitions / capacity() + (partitions % capacity() != 0 ? 1 : 0);
  }
  PartitionSlot slot_of(std::uint32_t partition) const {
    return {partition / capacity(), static_cast<std::uint32_t>(sizeof(PartitionTupleHeader)) +
                                        partition % capacity() * entry_bytes};
  }

 private:
  /// Bytes of the headers of page and tuple, and of the slot.
  static constexpr std::uint32_t kReserved =
      static_cast<std::uint32_t>(sizeof(StorePageHeader) + sizeof(PartitionTupleHeader)) + 4;
};

/// Encodes the tuple of page `page` of the map in which partition p has insert_pages[p], and counts
/// nothing yet.
std::vector<std::byte> encode_partition_tuple(const PartitionMapShape& shape,
                                              std::span<const PageNumber> insert_pages,
                                              std::uint32_t page);
/// Returns the bytes of an entry on a page; they are of the entry.
std::span<const std::byte> partition_entry_bytes(const PartitionMapShape& shape,
                                                 const PartitionEntry& entry);

/// A PartitionTuple is a checked tuple of page `page` of a map. Borrows the bytes.
class PartitionTuple {
 public:
  /// Returns data_loss when the bytes are no such tuple.
  static Result<PartitionTuple> parse(const PartitionMapShape& shape,
                                      std::span<const std::byte> tuple, std::uint32_t page);

  /// Returns the partitions of the whole map.
  std::uint32_t partitions() const { return header_.partitions; }
  std::uint32_t first() const { return header_.first; }
  /// Returns the partitions on this page.
  std::uint32_t count() const {
    return static_cast<std::uint32_t>((bytes_.size() - sizeof(header_)) / shape_.entry_bytes);
  }
  /// Returns what the map has of a partition, which is at least first() and below first() +
  /// count().
  PartitionEntry entry(std::uint32_t partition) const;

 private:
  PartitionTuple(const PartitionMapShape& shape, const PartitionTupleHeader& header,
                 std::span<const std::byte> bytes)
      : shape_(shape), header_(header), bytes_(bytes) {}

  PartitionMapShape shape_;
  PartitionTupleHeader header_;
  std::span<const std::byte> bytes_;
};

}  // namespace farvec::layout
