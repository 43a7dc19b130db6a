// A slotted page has a header, slots sorted by vertex id, free space, and records up to the page's
// end. Source: VeloANN section 3.3, Figure 7; bytes in docs/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/status.h"
#include "base/types.h"
#include "layout/pages/slotted_geometry.h"

namespace farvec::layout {

/// A PageHeader is the first bytes of every page; little-endian.
struct PageHeader {
  std::uint32_t checksum = 0;    ///< page_checksum()
  std::uint16_t count = 0;       ///< number of slots
  std::uint16_t heap_start = 0;  ///< the lowest byte of any record, counted from the page's start
  std::uint16_t heap_used = 0;   ///< bytes of all records together
  std::uint16_t reserved = 0;
};
static_assert(sizeof(PageHeader) == SlottedGeometry::kHeaderBytes);
static_assert(offsetof(PageHeader, count) == 4 && offsetof(PageHeader, heap_used) == 8);

/// A PageSlot is one record of a page. On disk: u32 id, u8 color, u16 length, u16 offset, without
/// padding.
struct PageSlot {
  NodeId id = kInvalidNode;
  std::uint8_t color = 0;    ///< not 0: records of the same color in a page are affine
  std::uint16_t length = 0;  ///< length of the record
  std::uint16_t offset = 0;  ///< offset of the record from the page's start
};

/// Returns the low 32 bits of XXH3-64 over the page without its first 4 bytes, seeded with the
/// page's number: a page fetched from another page's place does not pass.
std::uint32_t page_checksum(std::span<const std::byte> page, std::uint32_t number);

/// A page whose checksum and slots have been checked. Borrows the bytes, at any alignment.
class SlottedPage {
 public:
  /// Returns data_loss when the bytes are not page `number`: length, checksum, slots that do not
  /// ascend, or records that are outside of the heap or overlap.
  static Result<SlottedPage> parse(const SlottedGeometry& geometry, std::uint32_t number,
                                   std::span<const std::byte> bytes);

  std::uint32_t count() const { return count_; }
  std::uint32_t heap_used() const { return heap_used_; }

  /// Needs i < count(), which is not checked.
  PageSlot slot(std::uint32_t i) const { return load_slot(bytes_, i); }

  /// Returns the slot of `id`, found by binary search. data_loss when the page has none, because
  /// the page map said that it has one.
  Result<PageSlot> find(NodeId id) const;

  std::span<const std::byte> record(const PageSlot& slot) const {
    return {bytes_ + slot.offset, slot.length};
  }

  /// Returns the same page, copied to page_bytes at another address.
  SlottedPage moved_to(const std::byte* bytes) const {
    SlottedPage page = *this;
    page.bytes_ = bytes;
    return page;
  }

 private:
  SlottedPage(const std::byte* bytes, const PageHeader& header)
      : bytes_(bytes), count_(header.count), heap_used_(header.heap_used) {}

  static PageSlot load_slot(const std::byte* bytes, std::uint32_t i) {
    const std::byte* at =
        bytes + SlottedGeometry::kHeaderBytes + std::size_t{i} * SlottedGeometry::kSlotBytes;
    return {load_unaligned<NodeId>(at), std::to_integer<std::uint8_t>(at[4]),
            load_unaligned<std::uint16_t>(at + 5), load_unaligned<std::uint16_t>(at + 7)};
  }
  static Status check_slots(const SlottedGeometry& geometry, const PageHeader& header,
                            const std::byte* bytes);

  const std::byte* bytes_;
  std::uint32_t count_;
  std::uint32_t heap_used_;
};

}  // namespace farvec::layout
