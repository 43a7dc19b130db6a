// Any bytes are records of a store's log, done again on its pages; or an error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "layout/store/store_record.h"
#include "tests/fuzz/layout/store_fuzz.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

constexpr std::size_t kMostPages = 16;

using Pages = std::map<PageNumber, std::vector<std::byte>>;

/// An image of a page makes that page again.
void expect_image(std::span<const std::byte> page, PageNumber number) {
  const PageImage image = image_of(page);
  std::vector<std::byte> bytes(image.front.begin(), image.front.end());
  bytes.insert(bytes.end(), image.back.begin(), image.back.end());
  std::vector<std::byte> again(page.size(), std::byte{1});
  FARVEC_CHECK(bytes.size() == image.bytes() && decode_image(bytes, number, again).ok());
  FARVEC_CHECK(std::ranges::equal(page, again));
}

void redo_part(const StorePart& part, StoreRecordKind kind, Pages& pages) {
  if (pages.size() == kMostPages && !pages.contains(part.page)) return;
  const auto [found, fresh] = pages.try_emplace(part.page, fuzz::kFuzzPageBytes);
  std::vector<std::byte>& page = found->second;
  if (fresh) format_page(page, part.page);
  if (kind == StoreRecordKind::image) {
    std::vector<std::byte> healed(page.size(), std::byte{1});
    if (!decode_image(part.bytes, part.page, healed).ok()) return;
    page = healed;
  } else {
    fuzz::change_page(page, part.page, part.bytes);
  }
  expect_image(page, part.page);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto rest = std::as_bytes(std::span(data, size));
  Pages pages;
  StoreRecord record;
  while (rest.size() >= sizeof(fuzz::RecordLength)) {
    const std::size_t length = load_unaligned<fuzz::RecordLength>(rest.data());
    rest = rest.subspan(sizeof(fuzz::RecordLength));
    const auto bytes = rest.first(std::min(length, rest.size()));
    rest = rest.subspan(bytes.size());
    // Of its own: what is read behind a record's end is found.
    const std::vector<std::byte> alone(bytes.begin(), bytes.end());
    if (!decode_record(alone, record).ok()) continue;
    for (const StorePart& part : record.parts) redo_part(part, record.kind, pages);
  }
  return 0;
}
