// What can be done to a page: the changes that a log keeps, and the one function that makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "layout/store/page_format.h"

namespace farvec::layout {

enum class ChangeKind : std::uint16_t {
  init = 1,      ///< empties the page, and gives it kind, tag and next
  put = 2,       ///< a tuple at a slot: a new one, an unused one, or in place of what lies there
  erase = 3,     ///< makes a slot unused
  patch = 4,     ///< overwrites bytes inside a tuple
  set_next = 5,  ///< of the header
  set_tag = 6,   ///< of the header
};

/// One change of one page. Fields that a kind does not name are zero.
struct PageChange {
  ChangeKind change = ChangeKind::init;
  std::uint16_t slot = 0;                 ///< put, erase, patch
  std::uint16_t offset = 0;               ///< patch: in the tuple
  std::uint16_t kind = 0;                 ///< init
  std::uint32_t tag = 0;                  ///< init, set_tag
  PageNumber next = 0;                    ///< init, set_next
  std::span<const std::byte> bytes = {};  ///< put, patch; borrowed
};

/// Makes a change, the same way every time: the same page and changes give the same bytes, so that
/// recovery ends where the first time did. `page` is sound (StorePage::check()) and stays so; with
/// an error it is as it was. invalid_argument for a slot or bytes that the page has not,
/// resource_exhausted when a tuple does not fit even after compaction. Leaves position and checksum
/// alone. `change.bytes` lie outside of the page.
Status apply_change(std::span<std::byte> page, const PageChange& change);

/// Appends the change to `out`.
void encode(const PageChange& change, std::vector<std::byte>& out);

/// Takes the first change off `rest`, whose bytes it borrows. data_loss when there is none.
Result<PageChange> decode_change(std::span<const std::byte>& rest);

}  // namespace farvec::layout
