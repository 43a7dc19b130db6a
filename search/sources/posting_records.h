// Turns fetched records into the blocks that a search scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/posting_block.h"
#include "base/status.h"
#include "search/index/cluster_index.h"

namespace farvec::search {

/// Hands some of the records in `records`, which holds a whole number of them, to
/// visit(PostingBlock). Returns data_loss when a record does not match its checksum.
template <typename Visit>
Status hand_out(const ClusterIndex& index, std::span<const std::byte> records,
                std::span<const std::uint32_t> picks, Visit& visit) {
  const VectorView rows = index.locator().rows(records, index.dimension(), index.type());
  if (!index.locator().intact(rows, picks)) [[unlikely]] {
    return {StatusCode::data_loss, "a record does not match its checksum"};
  }
  visit(PostingBlock{rows, picks});
  return {};
}

}  // namespace farvec::search
