#include "layout/pages/page_encoder.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"

namespace farvec::layout {
namespace {

void store_slot(std::byte* page, std::size_t i, const PageSlot& slot) {
  std::byte* at = page + SlottedGeometry::kHeaderBytes + i * SlottedGeometry::kSlotBytes;
  store_unaligned(at, slot.id);
  at[4] = static_cast<std::byte>(slot.color);
  store_unaligned(at + 5, slot.length);
  store_unaligned(at + 7, slot.offset);
}

}  // namespace

void PageEncoder::encode(std::size_t begin, std::size_t end, std::span<std::byte> out) const {
  FARVEC_CHECK(out.size() == (end - begin) * geometry_.page_bytes, "{} bytes", out.size());
  std::memset(out.data(), 0, out.size());
  for (std::size_t page = begin; page < end; ++page) {
    encode_page(page, out.subspan((page - begin) * geometry_.page_bytes, geometry_.page_bytes));
  }
}

std::vector<PageEncoder::Entry> PageEncoder::entries_of(std::size_t page) const {
  std::vector<Entry> entries;
  for (std::uint64_t i = plan_.begins[page]; i < plan_.begins[page + 1]; ++i) {
    entries.push_back({plan_.ids[i], plan_.colors.empty() ? std::uint8_t{0} : plan_.colors[i]});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.id < b.id; });
  return entries;
}

void PageEncoder::encode_page(std::size_t page, std::span<std::byte> out) const {
  const std::vector<Entry> entries = entries_of(page);
  std::size_t heap_start = out.size();
  std::vector<NodeId> sorted;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const NodeId id = entries[i].id;
    sorted.assign(graph_.row(id), graph_.row(id) + graph_.degrees[id]);
    std::sort(sorted.begin(), sorted.end());
    FARVEC_CHECK(sorted.empty() || sorted.back() < geometry_.count, "vertex {} points to {}", id,
                 sorted.back());
    const std::size_t length = slotted_record_bytes(geometry_, sorted);
    const std::size_t slots_end =
        SlottedGeometry::kHeaderBytes + (i + 1) * SlottedGeometry::kSlotBytes;
    FARVEC_CHECK(slots_end + length <= heap_start, "page {} is too full", page);
    heap_start -= length;
    encode_slotted_record(geometry_, sorted, payloads_.row(id), out.subspan(heap_start, length));
    store_slot(out.data(), i,
               {id, entries[i].color, static_cast<std::uint16_t>(length),
                static_cast<std::uint16_t>(heap_start)});
  }
  PageHeader header;
  header.count = static_cast<std::uint16_t>(entries.size());
  header.heap_start = static_cast<std::uint16_t>(heap_start);
  header.heap_used = static_cast<std::uint16_t>(out.size() - heap_start);
  store_unaligned(out.data(), header);
  header.checksum = page_checksum(out, static_cast<std::uint32_t>(page));
  store_unaligned(out.data(), header);
}

}  // namespace farvec::layout
