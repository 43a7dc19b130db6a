#include "collection/segment/row_ids.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace farvec::collection {

RowIds::RowIds(std::vector<std::uint64_t> ids) : ids_(std::move(ids)), by_id_(ids_.size()) {
  std::iota(by_id_.begin(), by_id_.end(), NodeId{0});
  // Ids that are counted up come in their order, millions of them.
  if (std::is_sorted(ids_.begin(), ids_.end())) return;
  std::sort(by_id_.begin(), by_id_.end(), [this](NodeId a, NodeId b) { return ids_[a] < ids_[b]; });
}

std::vector<NodeId>::const_iterator RowIds::at_least(std::uint64_t id) const {
  return std::lower_bound(by_id_.begin(), by_id_.end(), id,
                          [this](NodeId row, std::uint64_t x) { return ids_[row] < x; });
}

std::optional<NodeId> RowIds::find(std::uint64_t id) const {
  // New ids are mostly greater than all others.
  if (by_id_.empty() || ids_[by_id_.back()] < id) return std::nullopt;
  const auto at = at_least(id);
  if (at == by_id_.end() || ids_[*at] != id) return std::nullopt;
  return *at;
}

/// Looks for each after the one before, in steps that double.
void RowIds::find_all(std::span<const std::uint64_t> ids, std::vector<NodeId>& rows) const {
  const std::size_t count = by_id_.size();
  const auto is_less = [&](NodeId row, std::uint64_t id) { return ids_[row] < id; };
  std::size_t begin = 0;
  for (const std::uint64_t id : ids) {
    std::size_t step = 1;
    while (begin + step < count && is_less(by_id_[begin + step], id)) step *= 2;
    const auto first = by_id_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        by_id_.begin() + static_cast<std::ptrdiff_t>(std::min(begin + step + 1, count));
    const auto at = std::lower_bound(first, last, id, is_less);
    begin = static_cast<std::size_t>(at - by_id_.begin());
    if (begin == count) return;
    if (ids_[*at] == id) rows.push_back(*at);
  }
}

std::span<const NodeId> RowIds::between(std::uint64_t first, std::uint64_t end) const {
  if (first >= end) return {};
  return {at_least(first), at_least(end)};
}

std::size_t RowIds::dram_bytes() const {
  return ids_.capacity() * sizeof(ids_[0]) + by_id_.capacity() * sizeof(by_id_[0]);
}

}  // namespace farvec::collection
