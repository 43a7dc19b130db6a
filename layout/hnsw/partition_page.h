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

/// A PartitionTupleHeader is the first bytes of the one tuple of such a page, at slot 0. Page
/// numbers (u32) follow, of partition `first`, of the next one, and so on to the end of the page or
/// of the partitions. kNoPage: the partition has no insert page.
struct PartitionTupleHeader {
  std::uint32_t first = 0;
  std::uint32_t partitions = 0;  ///< in the whole map
};
static_assert(sizeof(PartitionTupleHeader) == 8);

/// A PartitionSlot is the place of a partition in the map.
struct PartitionSlot {
  /// Index of a page of the map, from 0; the pages of the map are consecutive.
  std::uint32_t page = 0;
  std::uint32_t offset = 0;  ///< offset of the page number in the tuple
};

/// A PartitionMapShape is what follows from the size of pages.
struct PartitionMapShape {
  std::uint32_t page_bytes = 8192;

  /// Returns the partitions on a full page: 2,037 for 8 KiB.
  std::uint32_t capacity() const {
    return (page_bytes - kReserved) / static_cast<std::uint32_t>(sizeof(PageNumber));
  }
  /// Returns the pages of a map; 0 without partitions.
  std::uint32_t pages(std::uint32_t partitions) const {
    return partitions / capacity() + (partitions % capacity() != 0 ? 1 : 0);
  }
  PartitionSlot slot_of(std::uint32_t partition) const {
    return {partition / capacity(),
            static_cast<std::uint32_t>(sizeof(PartitionTupleHeader) +
                                       partition % capacity() * sizeof(PageNumber))};
  }

 private:
  /// Bytes of the headers of page and tuple, and of the slot.
  static constexpr std::uint32_t kReserved =
      static_cast<std::uint32_t>(sizeof(StorePageHeader) + sizeof(PartitionTupleHeader)) + 4;
};

/// Encodes the tuple of page `page` of the map in which partition p has insert_pages[p].
std::vector<std::byte> encode_partition_tuple(const PartitionMapShape& shape,
                                              std::span<const PageNumber> insert_pages,
                                              std::uint32_t page);

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
    return static_cast<std::uint32_t>((bytes_.size() - sizeof(header_)) / sizeof(PageNumber));
  }
  /// Returns kNoPage when the partition has none. `partition` is at least first() and below first()
  /// + count().
  PageNumber insert_page(std::uint32_t partition) const;

 private:
  PartitionTuple(const PartitionTupleHeader& header, std::span<const std::byte> bytes)
      : header_(header), bytes_(bytes) {}

  PartitionTupleHeader header_;
  std::span<const std::byte> bytes_;
};

}  // namespace farvec::layout
