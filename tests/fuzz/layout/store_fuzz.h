// What the fuzz targets of the page store and the writers of their seeds agree on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/store/page_change.h"
#include "layout/store/store_page.h"

namespace farvec::fuzz {

inline constexpr std::uint32_t kFuzzPageBytes = 4096;

/// layout_store_page_fuzz: this, so many bytes of the page's begin and end (zeros between them),
/// and changes.
struct PageInput {
  std::uint8_t size = 0;  ///< the page has 4096 << size bytes; from 4 on as many as are given
  std::uint8_t other_number = 0;  ///< odd: it is looked for in the place of another one
  std::uint16_t front = 0;
  std::uint16_t back = 0;
};
static_assert(sizeof(PageInput) == 6);

/// layout_store_record_fuzz: records, before each of them its length as 16 bits.
using RecordLength = std::uint16_t;

/// layout_checkpoint_fuzz: a byte, and the file. In that byte: the checksum is made right first.
inline constexpr std::uint8_t kSealCheckpoint = 1;

/// The change as a log keeps it is `bytes` again.
inline void expect_encoded(const layout::PageChange& change, std::span<const std::byte> bytes) {
  std::vector<std::byte> encoded;
  layout::encode(change, encoded);
  FARVEC_CHECK(std::ranges::equal(encoded, bytes));
}

/// What a change that was made has left.
inline void expect_changed(std::span<const std::byte> bytes, const layout::PageChange& change) {
  const layout::StorePage page(bytes);
  switch (change.change) {
    case layout::ChangeKind::init:
      FARVEC_CHECK(page.slots() == 0 && page.header().kind == change.kind &&
                   page.header().tag == change.tag && page.header().next == change.next);
      return;
    case layout::ChangeKind::put:
      FARVEC_CHECK(std::ranges::equal(page.tuple(change.slot), change.bytes));
      return;
    case layout::ChangeKind::erase:
      FARVEC_CHECK(page.tuple(change.slot).empty());
      return;
    case layout::ChangeKind::patch:
      FARVEC_CHECK(std::ranges::equal(
          page.tuple(change.slot).subspan(change.offset, change.bytes.size()), change.bytes));
      return;
    case layout::ChangeKind::set_next:
      FARVEC_CHECK(page.header().next == change.next);
      return;
    case layout::ChangeKind::set_tag:
      FARVEC_CHECK(page.header().tag == change.tag);
      return;
  }
}

/// Makes the changes that `rest` begins with, up to the first that is none or is refused. A sound
/// page stays sound, and a refused change leaves it as it was.
inline void change_page(std::span<std::byte> page, layout::PageNumber number,
                        std::span<const std::byte> rest) {
  while (!rest.empty()) {
    const auto all = rest;
    const auto change = layout::decode_change(rest);
    if (!change.ok()) return;
    expect_encoded(change.value(), all.first(all.size() - rest.size()));
    const std::vector<std::byte> before(page.begin(), page.end());
    const Status status = layout::apply_change(page, change.value());
    if (!status.ok()) {
      FARVEC_CHECK(std::ranges::equal(before, page));
      return;
    }
    FARVEC_CHECK(layout::StorePage::check(page, number).ok());
    expect_changed(page, change.value());
  }
}

}  // namespace farvec::fuzz
