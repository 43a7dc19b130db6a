#include "layout/hnsw/hnsw_shape.h"

#include <algorithm>

#include "base/memory.h"
#include "layout/store/store_page.h"

namespace farvec::layout {
namespace {

constexpr std::uint32_t kVertexSlots = 2;
constexpr auto kSlotBytes = static_cast<std::uint32_t>(sizeof(StoreSlot));

std::uint32_t aligned(std::uint32_t bytes) {
  return static_cast<std::uint32_t>(round_up(bytes, kTupleAlignment));
}

}  // namespace

std::uint32_t HnswShape::vertex_bytes(std::uint32_t level) const {
  return aligned(element_bytes()) + aligned(neighbors_bytes(level));
}

std::optional<std::uint32_t> highest_hnsw_level(const HnswShape& shape) {
  const std::uint32_t room = shape.page_bytes -
                             static_cast<std::uint32_t>(sizeof(StorePageHeader)) -
                             kVertexSlots * kSlotBytes;
  if (shape.vertex_bytes(0) > room) return {};
  std::uint32_t level = 0;
  while (level < kHnswMaxLevel && shape.vertex_bytes(level + 1) <= room) ++level;
  return level;
}

std::uint32_t least_hnsw_page_bytes(HnswShape shape) {
  for (shape.page_bytes = kMinStorePageBytes; shape.page_bytes <= kMaxStorePageBytes;
       shape.page_bytes *= 2) {
    const auto highest = highest_hnsw_level(shape);
    if (highest.has_value() && *highest >= kHnswLeastMaxLevel) return shape.page_bytes;
  }
  return 0;
}

bool has_vertex_room(const HnswShape& shape, std::span<const std::byte> page, std::uint32_t level) {
  const StorePage tuples(page);
  std::uint32_t unused = 0;
  for (std::uint32_t slot = 0; slot < tuples.slots() && unused < kVertexSlots; ++slot) {
    if (tuples.tuple(slot).empty()) ++unused;
  }
  const std::uint32_t free = tuples.hole_bytes() + tuples.header().dead_bytes;
  return shape.vertex_bytes(level) + (kVertexSlots - unused) * kSlotBytes <= free;
}

bool is_empty_vertex_page(std::span<const std::byte> page) {
  const StorePage tuples(page);
  for (std::uint32_t slot = 0; slot < tuples.slots(); ++slot) {
    if (!tuples.tuple(slot).empty()) return false;
  }
  return true;
}

}  // namespace farvec::layout
