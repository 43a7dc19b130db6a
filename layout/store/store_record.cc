#include "layout/store/store_record.h"

#include <cstring>

#include "layout/store/store_page.h"

namespace farvec::layout {
namespace {

Status no_record(const char* what) {
  return {StatusCode::data_loss, what};
}

}  // namespace

Status decode_record(std::span<const std::byte> bytes, StoreRecord& record) {
  record.parts.clear();
  if (bytes.size() < sizeof(StoreRecordHeader)) return no_record("half a record of pages");
  const auto header = load_unaligned<StoreRecordHeader>(bytes.data());
  record.kind = static_cast<StoreRecordKind>(header.kind);
  const bool image = record.kind == StoreRecordKind::image;
  if ((!image && record.kind != StoreRecordKind::changes) || header.parts == 0 ||
      (image && header.parts != 1)) {
    return no_record("no record of pages");
  }
  auto rest = bytes.subspan(sizeof(header));
  for (std::uint32_t i = 0; i < header.parts; ++i) {
    if (rest.size() < sizeof(StorePartHeader)) return no_record("a record of pages is cut off");
    const auto part = load_unaligned<StorePartHeader>(rest.data());
    rest = rest.subspan(sizeof(part));
    const bool ascends = record.parts.empty() || record.parts.back().page < part.page;
    if (part.bytes > rest.size() || part.bytes == 0 || part.page == kNoPage || !ascends) {
      return no_record("a record's part is cut off, or out of order");
    }
    record.parts.push_back({part.page, rest.first(part.bytes)});
    rest = rest.subspan(part.bytes);
  }
  if (!rest.empty()) return no_record("bytes after the parts of a record");
  return {};
}

PageImage image_of(std::span<const std::byte> page) {
  const auto header = load_unaligned<StorePageHeader>(page.data());
  return {page.first(sizeof(StorePageHeader) + header.slots * sizeof(StoreSlot)),
          page.subspan(header.tuples_begin)};
}

Status decode_image(std::span<const std::byte> image, PageNumber number,
                    std::span<std::byte> page) {
  if (image.size() < sizeof(StorePageHeader)) return no_record("half an image of a page");
  const auto header = load_unaligned<StorePageHeader>(image.data());
  const std::size_t front = sizeof(StorePageHeader) + header.slots * sizeof(StoreSlot);
  if (front > header.tuples_begin || header.tuples_begin > page.size() ||
      image.size() != front + page.size() - header.tuples_begin) {
    return no_record("an image that is as long as no page");
  }
  std::memset(page.data() + front, 0, header.tuples_begin - front);
  std::memcpy(page.data(), image.data(), front);
  std::memcpy(page.data() + header.tuples_begin, image.data() + front, image.size() - front);
  return StorePage::check(page, number).status();
}

}  // namespace farvec::layout
