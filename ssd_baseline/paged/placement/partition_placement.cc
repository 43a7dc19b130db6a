#include "ssd_baseline/paged/placement/partition_placement.h"

#include <limits>
#include <span>

#include "layout/hnsw/hnsw_shape.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"

namespace farvec::paged {
namespace {

using layout::kNoPage;

Status map_has_changed() {
  return {StatusCode::cancelled, "another writer has changed a partition's insert page"};
}

void count_one(std::uint16_t& count) {
  if (count < std::numeric_limits<std::uint16_t>::max()) ++count;
}

/// Returns whether it is a page on the list of those with free space that belongs to no partition
/// and holds nothing.
bool is_empty_free_page(std::span<const std::byte> bytes) {
  const layout::StorePage page(bytes);
  const auto kind = static_cast<std::uint16_t>(layout::HnswPageKind::vertices);
  if (page.header().kind != kind || page.header().tag != layout::kHnswFreeListBit) return false;
  return layout::is_empty_vertex_page(bytes);
}

}  // namespace

Result<Placement> PartitionPlacement::choose(const PlacementRequest& request) {
  rank_partitions(request.partitions, ranked_);
  wish_ = {};
  for (const PartitionOverlap& overlap : ranked_) {
    const auto found = map_.find(overlap.partition, request.deadline, reads_);
    if (!found.ok()) return found.status();
    if (found.value().map_page == kNoPage) break;
    const layout::PartitionEntry& entry = found.value().entry;
    if (entry.insert_page != kNoPage) return place(overlap.partition, found.value(), request);
    if (&overlap != &ranked_.front() || !map_.follows()) continue;
    const auto gets = gets_page(entry, request.deadline);
    if (!gets.ok()) return gets.status();
    if (gets.value()) {
      return further_page(Way::first_page, overlap.partition, found.value(), request.deadline);
    }
    wish_ = {overlap.partition, found.value().map_page};
  }
  return fall_back(request);
}

Result<Placement> PartitionPlacement::fall_back(const PlacementRequest& request) {
  way_ = Way::fallback;
  auto placement = fallback_.choose(request);
  if (placement.ok()) placement.value().own[1] = wish_.map_page;
  return placement;
}

Result<Placement> PartitionPlacement::place(std::uint32_t partition, const MapEntry& found,
                                            const PlacementRequest& request) {
  const PageNumber page = found.entry.insert_page;
  const auto room = has_room(page, request);
  if (!room.ok()) return room.status();
  if (!room.value()) return further_page(Way::next_page, partition, found, request.deadline);
  way_ = Way::insert_page;
  partition_ = partition;
  before_ = page;
  // Where nothing is counted the map does not change.
  return Placement{
      page, partition + 1, {map_.follows() ? found.map_page : kNoPage, wish_.map_page}};
}

Result<Placement> PartitionPlacement::further_page(Way way, std::uint32_t partition,
                                                   const MapEntry& found, Ticks deadline) {
  const auto empty = empty_page(deadline);
  if (!empty.ok()) return empty.status();
  way_ = way;
  partition_ = partition;
  before_ = found.entry.insert_page;
  return Placement{empty.value(), partition + 1, {found.map_page, wish_.map_page}};
}

/// The vertex that asks is the last wish that is needed.
Result<bool> PartitionPlacement::gets_page(const layout::PartitionEntry& entry, Ticks deadline) {
  if (entry.wished + 1u < wishes_for_a_page(hnsw_.shape())) return false;
  const auto state = hnsw_.state(fetcher_, deadline, reads_);
  if (!state.ok()) return state.status();
  return may_have_insert_page(state.value(), hnsw_.config().most_insert_pages);
}

/// Returns the first page of the list of those with free space, if it is empty; else none.
Result<PageNumber> PartitionPlacement::empty_page(Ticks deadline) {
  const auto state = hnsw_.state(fetcher_, deadline, reads_);
  if (!state.ok()) return state.status();
  const PageNumber first = state.value().free_pages;
  if (first == kNoPage) return kNoPage;
  const auto pin = fetcher_.fetch(first, deadline, reads_);
  if (!pin.ok()) return pin.status();
  return pin.value().read(is_empty_free_page) ? first : kNoPage;
}

Status PartitionPlacement::note(const Placement& placement, PlacementEdit& edit) {
  Status status = note_wish(edit);
  if (!status.ok()) return status;
  status = way_ == Way::fallback ? fallback_.note(placement, edit) : note_place(edit);
  if (!status.ok()) return status;
  counts_.wished += wish_.map_page != kNoPage ? 1 : 0;
  ++(way_ == Way::fallback ? counts_.fallback : counts_.placed);
  counts_.extended += way_ == Way::next_page ? 1 : 0;
  counts_.given += way_ == Way::first_page ? 1 : 0;
  return {};
}

Status PartitionPlacement::note_place(PlacementEdit& edit) const {
  if (way_ == Way::insert_page && !map_.follows()) return {};
  const auto read = map_.read(edit.editor, edit.own[0], partition_);
  if (!read.ok()) return read.status();
  layout::PartitionEntry entry = read.value();
  if (entry.insert_page != before_) return map_has_changed();
  if (way_ != Way::insert_page) {
    if (Status status = note_further_page(edit, entry); !status.ok()) return status;
  }
  if (map_.follows()) count_one(entry.received);
  return map_.write(edit.editor, edit.own[0], partition_, entry);
}

Status PartitionPlacement::note_wish(PlacementEdit& edit) const {
  if (wish_.map_page == kNoPage) return {};
  const auto read = map_.read(edit.editor, edit.own[1], wish_.partition);
  if (!read.ok()) return read.status();
  layout::PartitionEntry entry = read.value();
  if (entry.insert_page != kNoPage) return map_has_changed();
  count_one(entry.wished);
  return map_.write(edit.editor, edit.own[1], wish_.partition, entry);
}

Status PartitionPlacement::note_further_page(PlacementEdit& edit,
                                             layout::PartitionEntry& entry) const {
  layout::HnswState& state = edit.state;
  if (way_ == Way::first_page) {
    if (!may_have_insert_page(state, hnsw_.config().most_insert_pages)) return map_has_changed();
    ++state.insert_pages;
    entry.wished = 0;
  }
  if (!edit.new_page) {
    const bool same = state.free_pages == edit.vertex_number;
    if (!same || !is_empty_free_page(edit.editor.bytes(edit.vertex_page))) return map_has_changed();
    take_free_page(edit.editor, edit.vertex_page, state);
    edit.editor.set_tag(edit.vertex_page, partition_ + 1);
  }
  entry.insert_page = edit.vertex_number;
  return {};
}

Result<bool> PartitionPlacement::has_room(PageNumber page, const PlacementRequest& request) {
  const auto pin = fetcher_.fetch(page, request.deadline, reads_);
  if (!pin.ok()) return pin.status();
  return pin.value().read([&](std::span<const std::byte> bytes) -> Result<bool> {
    if (Status status = PartitionMap::check_insert_page(bytes); !status.ok()) return status;
    return layout::has_vertex_room(hnsw_.shape(), bytes, request.level);
  });
}

}  // namespace farvec::paged
