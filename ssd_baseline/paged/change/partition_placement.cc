#include "ssd_baseline/paged/change/partition_placement.h"

#include <span>

#include "layout/hnsw/hnsw_shape.h"

namespace farvec::paged {

using layout::kNoPage;

Result<Placement> PartitionPlacement::choose(const PlacementRequest& request) {
  rank_partitions(request.partitions, ranked_);
  for (const PartitionOverlap& overlap : ranked_) {
    const auto found = map_.find(overlap.partition, request.deadline);
    if (!found.ok()) return found.status();
    const InsertPage& insert = found.value();
    if (insert.page == kNoPage) continue;
    const auto room = has_room(insert.page, request);
    if (!room.ok()) return room.status();
    chosen_ = true;
    change_ = {overlap.partition, insert.page, kNoPage};
    if (room.value()) return Placement{insert.page, overlap.partition + 1, kNoPage};
    return Placement{kNoPage, overlap.partition + 1, insert.map_page};
  }
  chosen_ = false;
  return fallback_.choose(request);
}

Status PartitionPlacement::note(const Placement& placement, PlacementEdit& edit) {
  if (!chosen_) {
    ++counts_.fallback;
    return fallback_.note(placement, edit);
  }
  ++counts_.placed;
  if (!edit.new_page) return {};
  ++counts_.extended;
  change_.next = edit.vertex_number;
  return map_.change(edit.editor, edit.own, change_);
}

FetchCounts PartitionPlacement::reads() const {
  FetchCounts sum = reads_;
  return sum += map_.reads();
}

Result<bool> PartitionPlacement::has_room(PageNumber page, const PlacementRequest& request) {
  const auto pin = fetcher_.fetch(page, request.deadline, reads_);
  if (!pin.ok()) return pin.status();
  return pin.value().read([&](std::span<const std::byte> bytes) {
    return layout::has_vertex_room(hnsw_.shape(), bytes, request.level);
  });
}

}  // namespace farvec::paged
