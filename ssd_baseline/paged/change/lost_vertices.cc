#include "ssd_baseline/paged/change/lost_vertices.h"

#include <algorithm>

#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

/// A vertex has two slots, and those of erased ones are used again.
std::size_t most_slots(const layout::HnswShape& shape) {
  const std::size_t vertex = shape.vertex_bytes(0) + 2 * sizeof(layout::StoreSlot);
  return 2 * (shape.page_bytes / vertex + 1);
}

}  // namespace

LostVertices::LostVertices(const layout::HnswShape& shape)
    : shape_(shape), slots_(most_slots(shape)) {}

void LostVertices::begin(PageNumber pages) {
  there_.assign(pages * slots_, false);
  named_.assign(pages * slots_, false);
  named_twice_.assign(pages * slots_, false);
}

void LostVertices::see(const layout::HnswPlace& place, const layout::HnswVertex& vertex) {
  const std::size_t at = bit(place);
  if (at < there_.size()) there_[at] = true;
  for (std::uint32_t i = 0; i < shape_.degree(0); ++i) {
    const auto neighbor = vertex.neighbor(shape_, 0, i);
    if (!neighbor.empty()) name(neighbor);
  }
}

void LostVertices::name(const layout::HnswPlace& place) {
  const std::size_t at = bit(place);
  if (at == named_.size()) return;
  if (named_[at]) named_twice_[at] = true;
  named_[at] = true;
}

PageNumber LostVertices::next_page(PageNumber page) const {
  for (std::size_t at = page * slots_; at < there_.size(); ++at) {
    if (there_[at] && !named_[at]) return static_cast<PageNumber>(at / slots_);
  }
  return layout::kNoPage;
}

bool LostVertices::is_lost(const layout::HnswPlace& place) const {
  const std::size_t at = bit(place);
  return at < there_.size() && there_[at] && !named_[at];
}

bool LostVertices::is_named_twice(const layout::HnswPlace& place) const {
  const std::size_t at = bit(place);
  return at < named_twice_.size() && named_twice_[at];
}

void LostVertices::drop(const layout::HnswPlace& place) {
  const std::size_t at = bit(place);
  if (at < named_twice_.size()) named_twice_[at] = false;
}

std::size_t LostVertices::bit(const layout::HnswPlace& place) const {
  if (place.slot >= slots_) return there_.size();
  return std::min(place.page * slots_ + place.slot, there_.size());
}

}  // namespace farvec::paged
