// These functions make the changes of updates of an HNSW graph, on locked pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "layout/hnsw/hnsw_meta.h"
#include "layout/hnsw/hnsw_vertex.h"
#include "ssd_baseline/paged/store/page_store.h"

namespace farvec::paged {

/// Returns the state in the meta page; `meta_page` is its place in the pins of the update.
Result<layout::HnswState> edited_state(const PageEditor& editor, std::size_t meta_page);
Status write_state(PageEditor& editor, std::size_t meta_page, const layout::HnswState& state);

/// A PinnedVertex is a vertex on a page in the pins of an update.
struct PinnedVertex {
  std::size_t page = 0;
  std::uint16_t slot = 0;
};

/// Puts a vertex with no neighbours on a page of vertices that has room for it, and returns its
/// slot.
struct NewVertex {
  const layout::HnswShape& shape;
  NodeId id = 0;
  std::uint32_t level = 0;
  const std::byte* vector = nullptr;
  std::span<std::byte> scratch;  ///< a page long
};
Result<std::uint16_t> put_vertex(PageEditor& editor, std::size_t page, const NewVertex& vertex);

/// Overwrites one place, or all of a layer.
Status patch_places(PageEditor& editor, const PinnedVertex& at, std::uint32_t offset,
                    std::span<const layout::HnswPlace> places);

/// Takes a vertex off its page.
Status erase_vertex(PageEditor& editor, const PinnedVertex& at, const layout::HnswVertex& vertex);

/// A MarkedVertex is a vertex that is there and is to be marked.
struct MarkedVertex {
  const layout::HnswShape& shape;
  NodeId id = 0;
};
/// Marks it as deleted and counts that in `state`, which is to be written later. data_loss when
/// another vertex is there, or a marked one.
Status mark_vertex(PageEditor& editor, const PinnedVertex& at, const MarkedVertex& vertex,
                   layout::HnswState& state);

/// A PinnedPage is a page in the pins of an update, and its number.
struct PinnedPage {
  std::size_t page = 0;
  PageNumber number = 0;
};

/// add_free_page() puts a page of vertices on the list of those with free space, if it is not
/// there; take_free_page() takes the first one off. `state` is the meta page's, and is to be
/// written later.
Status add_free_page(PageEditor& editor, const PinnedPage& page, layout::HnswState& state);
void take_free_page(PageEditor& editor, std::size_t page, layout::HnswState& state);

/// Returns the bytes of a plain value, for patches.
template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace farvec::paged
