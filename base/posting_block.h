// A PostingBlock describes vectors of clusters in fetched bytes. A probe hands them out in this
// shape.
#pragma once

#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/types.h"

namespace farvec {

/// Names some rows of `rows`, each followed by its vector's id. Valid until the source that handed
/// it out returns or suspends. Located by layout/, scored by cluster/.
struct PostingBlock {
  VectorView rows;  ///< stored type; the stride is a record's bytes, nothing is aligned
  std::span<const std::uint32_t> picks;  ///< which rows

  NodeId id(std::uint32_t pick) const {
    return load_unaligned<NodeId>(rows.row(pick) + rows.row_bytes());
  }
};

}  // namespace farvec
