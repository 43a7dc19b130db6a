// A StoreRecord is a record of a page store's log: the changes of one update, or an image of a
// page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "layout/store/page_format.h"

namespace farvec::layout {

enum class StoreRecordKind : std::uint32_t {
  changes = 1,  ///< one part per page, in the order of their numbers: its changes
  image = 2,    ///< one part: the page without its hole
};

/// Begins a record.
struct StoreRecordHeader {
  std::uint32_t kind = 0;
  std::uint32_t parts = 0;
};
static_assert(sizeof(StoreRecordHeader) == 8);

/// Precedes the bytes of a part.
struct StorePartHeader {
  PageNumber page = 0;
  std::uint32_t bytes = 0;
};
static_assert(sizeof(StorePartHeader) == 8);

/// A StorePart is a part of a record. Borrows its bytes.
struct StorePart {
  PageNumber page = 0;
  std::span<const std::byte> bytes;
};

/// Goes through a record's parts. Bytes from a log are trusted only as far as decode_record(),
/// decode_change(), apply_change() and decode_image() check them.
struct StoreRecord {
  StoreRecordKind kind = StoreRecordKind::changes;
  std::vector<StorePart> parts;
};

/// Takes a record apart, whose bytes it borrows; the memory of `record` is reused. data_loss when
/// the bytes are not a record: another kind, parts that are cut off or whose pages do not ascend.
Status decode_record(std::span<const std::byte> bytes, StoreRecord& record);

/// A PageImage has the stretches of a page that its image keeps, one after the other: all but the
/// hole.
struct PageImage {
  std::span<const std::byte> front;  ///< header and slots
  std::span<const std::byte> back;   ///< tuples
  std::size_t bytes() const { return front.size() + back.size(); }
};
PageImage image_of(std::span<const std::byte> page);

/// Makes a sound page from its image. data_loss when the bytes are not an image of page `number`;
/// `page` then has arbitrary bytes.
Status decode_image(std::span<const std::byte> image, PageNumber number, std::span<std::byte> page);

}  // namespace farvec::layout
