// A SegmentKey is the name that memory nodes have for a segment of a collection.
#pragma once

#include <compare>
#include <cstdint>

namespace farvec::layout {

/// A number that no segment has: nodes hold the collection's catalogue (catalogue.h) under it.
inline constexpr std::uint64_t kCatalogueNumber = ~std::uint64_t{0};

struct SegmentKey {
  std::uint64_t collection = 0;  ///< the manifest's segments_on_nodes
  std::uint64_t number = 0;      ///< the number in the manifest

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes it for a comparison with 0
  auto operator<=>(const SegmentKey&) const = default;
};

}  // namespace farvec::layout
