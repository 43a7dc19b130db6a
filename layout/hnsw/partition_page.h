// The map from partitions of an HNSW graph to the pages that take their new vertices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "layout/store/page_format.h"

namespace farvec::layout {

/// First bytes of the one tuple of such a page, at slot 0; page numbers (u32) follow: of the
/// partition `first`, of the next, to the end of the page or of the partitions. kNoPage: the
/// partition has no insert page.
struct PartitionTupleHeader {
  std::uint32_t first = 0;
  std::uint32_t partitions = 0;  ///< of the whole map
};
static_assert(sizeof(PartitionTupleHeader) == 8);

/// Where a partition stands in the map.
struct PartitionSlot {
  std::uint32_t page = 0;    ///< of the map, from 0; the pages of the map follow each other
  std::uint32_t offset = 0;  ///< of the page number, in the tuple
};

/// What follows from the size of pages.
struct PartitionMapShape {
  std::uint32_t page_bytes = 8192;

  /// Partitions of a full page: 2,037 of 8 KiB.
  std::uint32_t capacity() const {
    return (page_bytes - kReserved) / static_cast<std::uint32_t>(sizeof(PageNumber));
  }
  /// Pages of a map; none of no partitions.
  std::uint32_t pages(std::uint32_t partitions) const {
    return partitions / capacity() + (partitions % capacity() != 0 ? 1 : 0);
  }
  PartitionSlot slot_of(std::uint32_t partition) const {
    return {partition / capacity(),
            static_cast<std::uint32_t>(sizeof(PartitionTupleHeader) +
                                       partition % capacity() * sizeof(PageNumber))};
  }

 private:
  /// Headers of the page and of the tuple, and the slot.
  static constexpr std::uint32_t kReserved =
      static_cast<std::uint32_t>(sizeof(StorePageHeader) + sizeof(PartitionTupleHeader)) + 4;
};

/// The tuple of page `page` of the map in which insert_pages[p] is that of partition p.
std::vector<std::byte> encode_partition_tuple(const PartitionMapShape& shape,
                                              std::span<const PageNumber> insert_pages,
                                              std::uint32_t page);

/// A tuple that was checked: it is page `page` of a map. Borrows the bytes.
class PartitionTuple {
 public:
  /// data_loss when the bytes are none.
  static Result<PartitionTuple> parse(const PartitionMapShape& shape,
                                      std::span<const std::byte> tuple, std::uint32_t page);

  /// Of the whole map.
  std::uint32_t partitions() const { return header_.partitions; }
  std::uint32_t first() const { return header_.first; }
  /// Of this page.
  std::uint32_t count() const {
    return static_cast<std::uint32_t>((bytes_.size() - sizeof(header_)) / sizeof(PageNumber));
  }
  /// kNoPage when it has none. `partition` is from first() to before first() + count().
  PageNumber insert_page(std::uint32_t partition) const;

 private:
  PartitionTuple(const PartitionTupleHeader& header, std::span<const std::byte> bytes)
      : header_(header), bytes_(bytes) {}

  PartitionTupleHeader header_;
  std::span<const std::byte> bytes_;
};

}  // namespace farvec::layout
