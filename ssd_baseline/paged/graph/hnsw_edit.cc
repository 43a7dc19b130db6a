#include "ssd_baseline/paged/graph/hnsw_edit.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

/// Returns the first unused slot from `from` on, or a new one.
std::uint16_t unused_slot(std::span<const std::byte> page, std::uint32_t from) {
  const layout::StorePage tuples(page);
  std::uint32_t slot = from;
  while (slot < tuples.slots() && !tuples.tuple(slot).empty()) ++slot;
  return static_cast<std::uint16_t>(slot);
}

}  // namespace

Result<layout::HnswState> edited_state(const PageEditor& editor, std::size_t meta_page) {
  const auto meta = layout::read_hnsw_meta(editor.bytes(meta_page));
  if (!meta.ok()) return meta.status();
  return meta.value().state;
}

Status write_state(PageEditor& editor, std::size_t meta_page, const layout::HnswState& state) {
  return editor.patch(meta_page, 0, offsetof(layout::HnswMeta, state), bytes_of(state));
}

Result<std::uint16_t> put_vertex(PageEditor& editor, std::size_t page, const NewVertex& vertex) {
  const layout::HnswShape& shape = vertex.shape;
  const std::uint16_t slot = unused_slot(editor.bytes(page), 0);
  const std::uint16_t neighbors = unused_slot(editor.bytes(page), slot + 1u);
  const auto level = static_cast<std::uint8_t>(vertex.level);
  const auto element = vertex.scratch.first(shape.element_bytes());
  layout::encode_element(shape, {.level = level, .id = vertex.id, .neighbors = neighbors},
                         vertex.vector, element);
  if (Status status = editor.put(page, slot, element); !status.ok()) return status;
  const auto list = vertex.scratch.first(shape.neighbors_bytes(vertex.level));
  layout::encode_no_neighbors({.level = level, .element = slot}, list);
  if (Status status = editor.put(page, neighbors, list); !status.ok()) return status;
  return slot;
}

Status patch_places(PageEditor& editor, const PinnedVertex& at, std::uint32_t offset,
                    std::span<const layout::HnswPlace> places) {
  constexpr std::size_t kAtOnce = 64;
  std::array<std::byte, kAtOnce * layout::HnswPlace::kBytes> bytes;
  for (std::size_t begin = 0; begin < places.size(); begin += kAtOnce) {
    const auto some = places.subspan(begin, std::min(kAtOnce, places.size() - begin));
    for (std::size_t i = 0; i < some.size(); ++i) {
      layout::store_place(&bytes[i * layout::HnswPlace::kBytes], some[i]);
    }
    const auto to = static_cast<std::uint32_t>(offset + begin * layout::HnswPlace::kBytes);
    const auto size = some.size() * layout::HnswPlace::kBytes;
    if (Status status = editor.patch(at.page, at.slot, to, std::span(bytes).first(size));
        !status.ok()) {
      return status;
    }
  }
  return {};
}

Status mark_vertex(PageEditor& editor, const PinnedVertex& at, const MarkedVertex& vertex,
                   layout::HnswState& state) {
  const auto there = layout::HnswVertex::parse(vertex.shape, editor.bytes(at.page), at.slot);
  if (!there.ok() || there.value().id() != vertex.id || there.value().marked()) {
    return {StatusCode::data_loss, "the id map leads to another vertex"};
  }
  const std::uint8_t flags = there.value().header().flags | layout::kHnswMarked;
  --state.vertices;
  ++state.marked;
  return editor.patch(at.page, at.slot, offsetof(layout::HnswElementHeader, flags),
                      bytes_of(flags));
}

Status erase_vertex(PageEditor& editor, const PinnedVertex& at, const layout::HnswVertex& vertex) {
  const std::uint16_t neighbors = vertex.neighbors_slot();  // read before its bytes are gone
  if (Status status = editor.erase(at.page, at.slot); !status.ok()) return status;
  return editor.erase(at.page, neighbors);
}

Status add_free_page(PageEditor& editor, const PinnedPage& page, layout::HnswState& state) {
  const auto header = layout::StorePage(editor.bytes(page.page)).header();
  if (header.kind != static_cast<std::uint16_t>(layout::HnswPageKind::vertices)) {
    return {StatusCode::data_loss, "a page with free space is none of vertices"};
  }
  if ((header.tag & layout::kHnswFreeListBit) != 0) return {};
  editor.set_next(page.page, state.free_pages);
  editor.set_tag(page.page, header.tag | layout::kHnswFreeListBit);
  state.free_pages = page.number;
  return {};
}

void take_free_page(PageEditor& editor, std::size_t page, layout::HnswState& state) {
  const auto header = layout::StorePage(editor.bytes(page)).header();
  state.free_pages = header.next;
  editor.set_next(page, layout::kNoPage);
  editor.set_tag(page, header.tag & ~layout::kHnswFreeListBit);
}

}  // namespace farvec::paged
