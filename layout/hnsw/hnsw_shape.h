// An HnswShape gives the sizes of what is on the pages of an HNSW graph; docs/format.md has the
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.h"
#include "layout/store/page_format.h"

namespace farvec::layout {

/// An HnswPageKind is StorePageHeader::kind of the pages of an HNSW graph.
enum class HnswPageKind : std::uint16_t {
  unused = 0,
  meta = 1,        ///< only page 0
  vertices = 2,    ///< elements and their neighbours
  id_map = 3,      ///< StorePageHeader::tag is the height above the leaves
  partitions = 4,  ///< partitions of colocation
};
inline constexpr std::uint32_t kHnswPageKinds = 5;

/// StorePageHeader::tag of a page of vertices has two parts. This bit says whether the page is in
/// the list of pages with free space, whose links are StorePageHeader::next. The other bits are the
/// number of its partition plus one, 0 for none.
inline constexpr std::uint32_t kHnswFreeListBit = 1u << 31;

/// No vertex is on a higher layer.
inline constexpr std::uint32_t kHnswMaxLevel = 15;
/// Vertices up to this level at least must fit on a page: 5 layers, for a graph of m^5 vertices.
inline constexpr std::uint32_t kHnswLeastMaxLevel = 4;

/// An HnswPlace is the place of a vertex: the slot of its element. On pages it is 6 bytes without
/// padding.
struct HnswPlace {
  static constexpr std::uint32_t kBytes = 6;
  PageNumber page = kNoPage;
  std::uint16_t slot = 0xffff;

  bool empty() const { return page == kNoPage; }
  bool operator==(const HnswPlace&) const = default;

  /// Returns the place as one number, which searches pass on.
  std::uint64_t handle() const { return std::uint64_t{page} << 16 | slot; }
  static HnswPlace of(std::uint64_t handle) {
    return {static_cast<PageNumber>(handle >> 16), static_cast<std::uint16_t>(handle)};
  }
};

/// The first bytes of an element; the vector follows, `dimension` elements of the stored type.
struct HnswElementHeader {
  std::uint8_t kind = 1;
  std::uint8_t level = 0;  ///< the vertex is on the layers 0 to level
  std::uint8_t flags = 0;  ///< kHnswMarked
  std::uint8_t zero = 0;
  std::uint32_t id = 0;         ///< the caller's id
  std::uint16_t neighbors = 0;  ///< slot of the tuple of neighbours, on the same page
  std::uint16_t zero2 = 0;
};
static_assert(sizeof(HnswElementHeader) == 12 && offsetof(HnswElementHeader, neighbors) == 8);
inline constexpr std::uint8_t kHnswMarked = 1;  ///< deleted

/// An HnswNeighborsHeader is the first bytes of the neighbours of a vertex. Places follow: 2m for
/// layer 0, then m for each layer above; those in use need not come first.
struct HnswNeighborsHeader {
  std::uint8_t kind = 2;
  std::uint8_t level = 0;
  std::uint16_t element = 0;  ///< slot of the vertex
};
static_assert(sizeof(HnswNeighborsHeader) == 4);

/// An HnswShape has the facts from which the sizes follow; all come from a meta page that was
/// checked.
struct HnswShape {
  std::uint32_t page_bytes = 8192;
  std::uint32_t dimension = 0;
  ElementType type = ElementType::f32;
  std::uint32_t m = 24;
  std::uint32_t max_level = kHnswMaxLevel;

  std::uint32_t vector_bytes() const {
    return static_cast<std::uint32_t>(packed_bytes(type, dimension));
  }
  std::uint32_t element_bytes() const {
    return static_cast<std::uint32_t>(sizeof(HnswElementHeader)) + vector_bytes();
  }
  std::uint32_t degree(std::uint32_t layer) const { return layer == 0 ? 2 * m : m; }
  /// Returns the index of a layer's first place among all places of a vertex.
  std::uint32_t first_place(std::uint32_t layer) const { return layer == 0 ? 0 : (layer + 1) * m; }
  std::uint32_t neighbors_bytes(std::uint32_t level) const {
    return static_cast<std::uint32_t>(sizeof(HnswNeighborsHeader)) +
           HnswPlace::kBytes * first_place(level + 1);
  }
  /// Returns the offset of a place in the tuple of neighbours.
  std::uint32_t place_offset(std::uint32_t layer, std::uint32_t i) const {
    return static_cast<std::uint32_t>(sizeof(HnswNeighborsHeader)) +
           HnswPlace::kBytes * (first_place(layer) + i);
  }
  /// Returns the bytes that a vertex takes of a page, without its two slots.
  std::uint32_t vertex_bytes(std::uint32_t level) const;
};

/// Returns the highest level at which a vertex fits on an empty page; nothing when none does.
std::optional<std::uint32_t> highest_hnsw_level(const HnswShape& shape);

/// Returns the smallest page that holds vertices up to kHnswLeastMaxLevel; 0 when none does.
std::uint32_t least_hnsw_page_bytes(HnswShape shape);

/// Says whether a page of vertices has room for one more of `level`, after compaction if need be.
bool has_vertex_room(const HnswShape& shape, std::span<const std::byte> page, std::uint32_t level);

/// Says whether a page of vertices holds none.
bool is_empty_vertex_page(std::span<const std::byte> page);

}  // namespace farvec::layout
