// An HnswVertex is a vertex of an HNSW graph on a page: its element and its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/status.h"
#include "layout/hnsw/hnsw_shape.h"

namespace farvec::layout {

HnswPlace load_place(const std::byte* bytes);
void store_place(std::byte* bytes, HnswPlace place);

/// A vertex whose two tuples were checked against each other and the shape. Borrows the page.
class HnswVertex {
 public:
  /// Returns not_found when there is no vertex at the slot: it is unused, or holds something else
  /// that a page of vertices may hold. Returns data_loss when the bytes contradict each other. The
  /// places of its neighbours are not followed: code that follows one has to check that a vertex is
  /// there.
  static Result<HnswVertex> parse(const HnswShape& shape, std::span<const std::byte> page,
                                  std::uint16_t slot);

  NodeId id() const { return header_.id; }
  std::uint32_t level() const { return header_.level; }
  bool marked() const { return (header_.flags & kHnswMarked) != 0; }
  std::uint16_t neighbors_slot() const { return header_.neighbors; }
  const HnswElementHeader& header() const { return header_; }
  /// May have any alignment.
  const std::byte* vector() const { return element_ + sizeof(HnswElementHeader); }

  /// Needs layer <= level() and i < shape.degree(layer); the place may be empty.
  HnswPlace neighbor(const HnswShape& shape, std::uint32_t layer, std::uint32_t i) const {
    return load_place(neighbors_ + shape.place_offset(layer, i));
  }
  /// Returns the bytes of all places of a layer.
  std::span<const std::byte> places(const HnswShape& shape, std::uint32_t layer) const {
    return {neighbors_ + shape.place_offset(layer, 0), HnswPlace::kBytes * shape.degree(layer)};
  }

 private:
  HnswVertex(const HnswElementHeader& header, const std::byte* element, const std::byte* neighbors)
      : header_(header), element_(element), neighbors_(neighbors) {}

  HnswElementHeader header_;
  const std::byte* element_;
  const std::byte* neighbors_;
};

/// Writes an element: `out` is shape.element_bytes() long.
void encode_element(const HnswShape& shape, const HnswElementHeader& header,
                    const std::byte* vector, std::span<std::byte> out);

/// Writes an empty tuple of neighbours: `out` is shape.neighbors_bytes(level) long.
void encode_no_neighbors(const HnswNeighborsHeader& header, std::span<std::byte> out);

}  // namespace farvec::layout
