#include "ssd_baseline/paged/placement/partition_share.h"

#include <algorithm>

#include "layout/store/store_page.h"

namespace farvec::paged {

std::uint32_t wishes_for_a_page(const layout::HnswShape& shape) {
  const auto room = shape.page_bytes - static_cast<std::uint32_t>(sizeof(layout::StorePageHeader));
  const auto slots = static_cast<std::uint32_t>(2 * sizeof(layout::StoreSlot));
  return std::max(room / (shape.vertex_bytes(0) + slots) / 2, 1u);
}

bool may_have_insert_page(const layout::HnswState& state, std::uint32_t most_insert_pages) {
  const std::uint64_t pages = state.pages[static_cast<std::size_t>(layout::HnswPageKind::vertices)];
  return (std::uint64_t{state.insert_pages} + 1) * layout::kMillionPages <=
         pages * most_insert_pages;
}

bool tells_who_receives(const layout::HnswShape& shape, const layout::HnswState& state,
                        std::uint64_t counted) {
  return counted >= std::uint64_t{state.insert_pages} * wishes_for_a_page(shape);
}

}  // namespace farvec::paged
