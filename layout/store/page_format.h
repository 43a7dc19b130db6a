// Defines pages that change in place: a header, tuples at numbered slots, and the changes that a
// log keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace farvec::layout {

using PageNumber = std::uint32_t;
inline constexpr PageNumber kNoPage = 0xffffffff;

inline constexpr std::uint32_t kMinStorePageBytes = 4096;
inline constexpr std::uint32_t kMaxStorePageBytes = 32768;

/// A StorePageHeader is the first bytes of every page. Code that changes a page leaves `checksum`
/// alone: it is set when the page is written and checked when it is read.
struct StorePageHeader {
  std::uint32_t checksum = 0;      ///< page_checksum() (layout/pages/slotted_page.h)
  std::uint32_t page = 0;          ///< its own number
  std::uint64_t position = 0;      ///< position in the log after the last change of the page
  std::uint16_t kind = 0;          ///< what its tuples are, as defined by the owner; 0 is none
  std::uint16_t slots = 0;         ///< used and unused ones
  std::uint16_t tuples_begin = 0;  ///< tuples are from here to the end of the page
  std::uint16_t dead_bytes = 0;    ///< bytes between them that erased tuples had
  PageNumber next = kNoPage;       ///< link in a list of pages; the owner's
  std::uint32_t tag = 0;           ///< the owner's
};
static_assert(sizeof(StorePageHeader) == 32);

}  // namespace farvec::layout
