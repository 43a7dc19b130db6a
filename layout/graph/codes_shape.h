// CodesShape is what a codes region is checked against.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace farvec::layout {

/// A CodesShape is what the codes of an index have to agree with.
struct CodesShape {
  std::uint32_t dimension = 0;
  std::uint64_t count = 0;  ///< number of vectors
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;
  std::uint32_t bits = 0;
  std::uint32_t extension_bits = 0;
  /// The codes are in the records, and this region has the vectors where searches start.
  bool starts_alone = false;
};

}  // namespace farvec::layout
