#include "layout/pages/slotted_page.h"

#include <xxhash.h>

namespace farvec::layout {
namespace {

Status damaged(const char* what) {
  return {StatusCode::data_loss, what};
}

}  // namespace

std::uint32_t page_checksum(std::span<const std::byte> page, std::uint32_t number) {
  const auto covered = page.subspan(sizeof(std::uint32_t));
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(covered.data(), covered.size(), number));
}

Status SlottedPage::check_slots(const SlottedGeometry& geometry, const PageHeader& header,
                                const std::byte* bytes) {
  const std::uint32_t slots_end =
      SlottedGeometry::kHeaderBytes + header.count * SlottedGeometry::kSlotBytes;
  if (slots_end > header.heap_start || header.heap_start > geometry.page_bytes) {
    return damaged("a page's slots reach into its records");
  }
  // Records are in the order of the slots, from the end of the page.
  std::uint32_t limit = geometry.page_bytes;
  std::uint32_t used = 0;
  NodeId least = 0;
  for (std::uint32_t i = 0; i < header.count; ++i) {
    const PageSlot slot = load_slot(bytes, i);
    if (slot.id < least || slot.id >= geometry.count) {
      return damaged("a page's slots do not ascend");
    }
    if (slot.length < geometry.least_record_bytes() || slot.offset < header.heap_start ||
        slot.offset + std::uint32_t{slot.length} > limit) {
      return damaged("a page's records lie across each other or outside of it");
    }
    limit = slot.offset;
    used += slot.length;
    least = slot.id + 1;
  }
  if (used != header.heap_used) return damaged("a page's records have another length than it says");
  return {};
}

Result<SlottedPage> SlottedPage::parse(const SlottedGeometry& geometry, std::uint32_t number,
                                       std::span<const std::byte> bytes) {
  if (bytes.size() != geometry.page_bytes) [[unlikely]] {
    return damaged("a page came back shorter than it is");
  }
  const auto header = load_unaligned<PageHeader>(bytes.data());
  if (header.checksum != page_checksum(bytes, number)) [[unlikely]] {
    return damaged("a page does not match its checksum");
  }
  // A writer's own error, or bytes that were made to pass: the slots are not trusted either.
  if (const Status status = check_slots(geometry, header, bytes.data()); !status.ok())
      [[unlikely]] {
    return status;
  }
  return SlottedPage(bytes.data(), header);
}

Result<PageSlot> SlottedPage::find(NodeId id) const {
  std::uint32_t first = 0;
  std::uint32_t size = count_;
  while (size > 0) {
    const std::uint32_t half = size / 2;
    const PageSlot middle = slot(first + half);
    if (middle.id == id) return middle;
    if (middle.id < id) first += half + 1;
    size = middle.id < id ? size - half - 1 : half;
  }
  return damaged("a page does not hold the record that the map says it holds");
}

}  // namespace farvec::layout
