// Defines what can be done to a page: the changes that a log keeps, and the one function that makes
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "layout/store/page_format.h"

namespace farvec::layout {

enum class ChangeKind : std::uint16_t {
  init = 1,   ///< empties the page, and gives it kind, tag and next
  put = 2,    ///< puts a tuple at a slot: a new slot, an unused one, or in place of the tuple there
  erase = 3,  ///< makes a slot unused
  patch = 4,  ///< overwrites bytes inside a tuple
  set_next = 5,  ///< sets `next` in the header
  set_tag = 6,   ///< sets `tag` in the header
};

/// A PageChange is one change of one page. Fields that a kind does not use are zero.
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
/// recovery ends with the same page. `page` is sound (StorePage::check()) and stays so; on an error
/// it is unchanged. invalid_argument for a slot or bytes that the page does not have,
/// resource_exhausted when a tuple does not fit even after compaction. Position and checksum do not
/// change. `change.bytes` are outside of the page.
Status apply_change(std::span<std::byte> page, const PageChange& change);

/// Appends the change to `out`.
void encode(const PageChange& change, std::vector<std::byte>& out);

/// Removes the first change from `rest`, whose bytes it borrows, and returns it. data_loss when
/// there is none.
Result<PageChange> decode_change(std::span<const std::byte>& rest);

}  // namespace farvec::layout
