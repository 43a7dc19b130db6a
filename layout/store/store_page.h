// A StorePage has tuples at numbered slots: header, slots, free bytes, tuples up to the page's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/status.h"
#include "layout/store/page_format.h"

namespace farvec::layout {

/// Tuples begin at multiples of this, counted from the page's start; bytes between the end of a
/// tuple and the next such place are zero.
inline constexpr std::uint32_t kTupleAlignment = 4;

/// A StoreSlot is the place of a tuple. Unused slots are zero.
struct StoreSlot {
  std::uint16_t offset = 0;  ///< counts from the page's start
  std::uint16_t bytes = 0;
};
static_assert(sizeof(StoreSlot) == 4);

/// Says whether a page may have this many bytes.
constexpr bool is_store_page_bytes(std::uint64_t bytes) {
  return bytes >= kMinStorePageBytes && bytes <= kMaxStorePageBytes && (bytes & (bytes - 1)) == 0;
}

/// Returns the longest tuple that fits an empty page of `page_bytes` bytes.
constexpr std::uint32_t max_tuple_bytes(std::uint32_t page_bytes) {
  return page_bytes - static_cast<std::uint32_t>(sizeof(StorePageHeader) + sizeof(StoreSlot));
}

/// A StorePage is a page that check() has found sound, or that apply_change() has left so. Borrows
/// the bytes.
class StorePage {
 public:
  /// Takes a page from the buffer, without checks.
  explicit StorePage(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Returns data_loss when the bytes are not page `number`: length, number, slots that reach into
  /// tuples, tuples that are outside of the page or overlap, counts that do not add up. Everything
  /// that is read from a page later relies on this check. The checksum is checked elsewhere.
  static Result<StorePage> check(std::span<const std::byte> bytes, PageNumber number);

  StorePageHeader header() const { return load_unaligned<StorePageHeader>(bytes_.data()); }
  std::uint32_t slots() const { return header().slots; }

  /// Empty when the slot is unused, or does not exist.
  std::span<const std::byte> tuple(std::uint32_t slot) const;

  /// Returns the longest tuple that can be put at a new slot, after compaction if need be; 0 when
  /// none can.
  std::uint32_t room() const;

  /// Returns the bytes between slots and tuples; all are zero.
  std::uint32_t hole_bytes() const;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  friend class PageTuples;
  StoreSlot slot(std::uint32_t i) const {
    return load_unaligned<StoreSlot>(bytes_.data() + sizeof(StorePageHeader) +
                                     i * sizeof(StoreSlot));
  }
  bool has_sound_tuples(const StorePageHeader& header) const;

  std::span<const std::byte> bytes_;
};

/// Makes `page` an empty page: no slots, kind 0, no change.
void format_page(std::span<std::byte> page, PageNumber number);

/// Sets the checksum of a page that is about to be written.
void seal_page(std::span<std::byte> page);

/// Tests the checksum, then does check(): for bytes from a disk.
Status check_sealed_page(std::span<const std::byte> page, PageNumber number);

/// Sets the position in the log where the page's last change ends.
void set_page_position(std::span<std::byte> page, std::uint64_t position);

}  // namespace farvec::layout
