// EntryGraphShape is the shape of the graph that finds where a search of slotted pages starts.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace farvec::layout {

struct EntryGraphShape {
  static constexpr std::uint32_t kMostVertices = 1u << 20;
  static constexpr std::uint32_t kMostDegree = 64;

  std::uint32_t vertices = 0;  ///< vertices in the sample
  std::uint32_t degree = 0;    ///< largest degree
  NodeId entry = kInvalidNode;

  /// Returns the bytes of ids, degrees, and a row of `degree` neighbours for each vertex.
  std::uint64_t payload_bytes() const {
    return std::uint64_t{vertices} * (2 + std::uint64_t{degree}) * sizeof(std::uint32_t);
  }
};

}  // namespace farvec::layout
