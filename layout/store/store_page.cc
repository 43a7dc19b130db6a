#include "layout/store/store_page.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "layout/pages/slotted_page.h"

namespace farvec::layout {
namespace {

Status no_page(const char* what) {
  return {StatusCode::data_loss, what};
}

/// Records which units of kTupleAlignment bytes belong to a tuple.
class UnitMap {
 public:
  /// False when a byte of [begin, end) was taken before.
  bool take(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t at = begin; at < end;) {
      const std::uint32_t first = at % kWordBits;
      const std::uint32_t count = std::min(kWordBits - first, end - at);
      const std::uint64_t bits = (count == kWordBits ? ~std::uint64_t{0} : (kOne << count) - 1)
                                 << first;
      std::uint64_t& word = words_[at / kWordBits];
      if ((word & bits) != 0) return false;
      word |= bits;
      at += count;
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kWordBits = 64;
  static constexpr std::uint64_t kOne = 1;
  std::array<std::uint64_t, kMaxStorePageBytes / kTupleAlignment / kWordBits> words_{};
};

}  // namespace

Result<StorePage> StorePage::check(std::span<const std::byte> bytes, PageNumber number) {
  if (!is_store_page_bytes(bytes.size())) return no_page("a page of no size that pages have");
  const StorePage page(bytes);
  const StorePageHeader header = page.header();
  if (header.page != number) return no_page("another page lies in a page's place");
  const std::uint32_t slots_end = sizeof(StorePageHeader) + header.slots * sizeof(StoreSlot);
  if (slots_end > header.tuples_begin || header.tuples_begin > bytes.size() ||
      header.tuples_begin % kTupleAlignment != 0) {
    return no_page("a page's slots reach into its tuples");
  }
  if (!page.has_sound_tuples(header)) {
    return no_page("a page's tuples lie across each other or outside of it");
  }
  return page;
}

bool StorePage::has_sound_tuples(const StorePageHeader& header) const {
  UnitMap taken;
  std::size_t live = 0;
  for (std::uint32_t i = 0; i < header.slots; ++i) {
    const StoreSlot at = slot(i);
    if (at.offset == 0 && at.bytes == 0) continue;
    const std::size_t end = round_up(std::size_t{at.offset} + at.bytes, kTupleAlignment);
    if (at.bytes == 0 || at.offset % kTupleAlignment != 0 || at.offset < header.tuples_begin ||
        end > bytes_.size()) {
      return false;
    }
    live += end - at.offset;
    if (!taken.take(at.offset / kTupleAlignment,
                    static_cast<std::uint32_t>(end / kTupleAlignment))) {
      return false;
    }
  }
  return live + header.dead_bytes == bytes_.size() - header.tuples_begin;
}

std::span<const std::byte> StorePage::tuple(std::uint32_t number) const {
  if (number >= slots()) return {};
  const StoreSlot at = slot(number);
  return bytes_.subspan(at.offset, at.bytes);
}

std::uint32_t StorePage::hole_bytes() const {
  const StorePageHeader now = header();
  return now.tuples_begin -
         static_cast<std::uint32_t>(sizeof(StorePageHeader) + now.slots * sizeof(StoreSlot));
}

std::uint32_t StorePage::room() const {
  const std::uint32_t free = hole_bytes() + header().dead_bytes;
  return free < sizeof(StoreSlot) ? 0 : free - static_cast<std::uint32_t>(sizeof(StoreSlot));
}

void format_page(std::span<std::byte> page, PageNumber number) {
  std::memset(page.data(), 0, page.size());
  StorePageHeader header;
  header.page = number;
  header.tuples_begin = static_cast<std::uint16_t>(page.size());
  store_unaligned(page.data(), header);
}

void seal_page(std::span<std::byte> page) {
  const PageNumber number =
      load_unaligned<PageNumber>(page.data() + offsetof(StorePageHeader, page));
  store_unaligned(page.data(), page_checksum(page, number));
}

Status check_sealed_page(std::span<const std::byte> page, PageNumber number) {
  if (page.size() < sizeof(StorePageHeader)) return no_page("a page of no size that pages have");
  if (load_unaligned<std::uint32_t>(page.data()) != page_checksum(page, number)) {
    return no_page("a page's checksum does not match its bytes");
  }
  return StorePage::check(page, number).status();
}

void set_page_position(std::span<std::byte> page, std::uint64_t position) {
  store_unaligned(page.data() + offsetof(StorePageHeader, position), position);
}

}  // namespace farvec::layout
