// What memory nodes call a segment of a collection.
#pragma once

#include <compare>
#include <cstdint>

namespace farvec::layout {

/// A number that no segment has: by it nodes hold the collection's catalogue (catalogue.h).
inline constexpr std::uint64_t kCatalogueNumber = ~std::uint64_t{0};

struct SegmentKey {
  std::uint64_t collection = 0;  ///< the manifest's segments_on_nodes
  std::uint64_t number = 0;      ///< as the manifest has it

  auto operator<=>(const SegmentKey&) const = default;
};

}  // namespace farvec::layout
