#include "collection/segment/row_ids.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace farvec::collection {

RowIds::RowIds(std::vector<std::uint64_t> ids) : ids_(std::move(ids)), by_id_(ids_.size()) {
  std::iota(by_id_.begin(), by_id_.end(), NodeId{0});
  std::sort(by_id_.begin(), by_id_.end(), [this](NodeId a, NodeId b) { return ids_[a] < ids_[b]; });
}

std::optional<NodeId> RowIds::find(std::uint64_t id) const {
  const auto at = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                   [this](NodeId row, std::uint64_t x) { return ids_[row] < x; });
  if (at == by_id_.end() || ids_[*at] != id) return std::nullopt;
  return *at;
}

std::size_t RowIds::dram_bytes() const {
  return ids_.capacity() * sizeof(ids_[0]) + by_id_.capacity() * sizeof(by_id_[0]);
}

}  // namespace farvec::collection
