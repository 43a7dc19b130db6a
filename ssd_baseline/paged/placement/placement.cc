#include "ssd_baseline/paged/placement/placement.h"

#include "layout/store/store_page.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"

namespace farvec::paged {
namespace {

Status asked_again() {
  return {StatusCode::cancelled, "another writer has moved the insert page"};
}

bool is_vertex_page(std::span<const std::byte> page) {
  return layout::StorePage(page).header().kind ==
         static_cast<std::uint16_t>(layout::HnswPageKind::vertices);
}

}  // namespace

Result<bool> FallbackPlacement::has_room(PageNumber page, std::uint32_t level, Ticks deadline) {
  FetchCounts counts;
  const auto pin = fetcher_.fetch(page, deadline, counts);
  if (!pin.ok()) return pin.status();
  return pin.value().read([&](std::span<const std::byte> bytes) {
    return is_vertex_page(bytes) && layout::has_vertex_room(hnsw_.shape(), bytes, level);
  });
}

Result<Placement> FallbackPlacement::choose(const PlacementRequest& request) {
  FetchCounts counts;
  const auto state = hnsw_.state(fetcher_, request.deadline, counts);
  if (!state.ok()) return state.status();
  insert_page_ = state.value().insert_page;
  Placement placement;
  for (const PageNumber page : {insert_page_, state.value().free_pages}) {
    if (page == layout::kNoPage) continue;
    const auto room = has_room(page, request.level, request.deadline);
    if (!room.ok()) return room.status();
    if (!room.value()) continue;
    placement.page = page;
    break;
  }
  const Status status = find_own(state.value(), request.deadline, placement);
  return status.ok() ? Result<Placement>(placement) : status;
}

/// Finds the page that the insert changes besides its own. The insert page goes to the list if a
/// smaller vertex would fit. A first page of the list that another writer has filled is taken off
/// the list, or the following ones would never be looked at.
Status FallbackPlacement::find_own(const layout::HnswState& state, Ticks deadline,
                                   Placement& placement) {
  if (placement.page == insert_page_ && insert_page_ != layout::kNoPage) return {};
  const auto filled = [&](PageNumber page) -> Result<bool> {
    const auto room = has_room(page, 0, deadline);
    return room.ok() ? Result<bool>(!room.value()) : room;
  };
  full_page_ = layout::kNoPage;
  if (placement.page == layout::kNoPage && state.free_pages != layout::kNoPage) {
    const auto full = filled(state.free_pages);
    if (!full.ok()) return full.status();
    if (full.value()) placement.own[0] = full_page_ = state.free_pages;
  }
  if (placement.own[0] != layout::kNoPage || insert_page_ == layout::kNoPage) return {};
  const auto full = filled(insert_page_);
  if (!full.ok()) return full.status();
  if (!full.value()) placement.own[0] = insert_page_;
  return {};
}

Status FallbackPlacement::note(const Placement& placement, PlacementEdit& edit) {
  layout::HnswState& state = edit.state;
  if (state.insert_page != insert_page_) return asked_again();
  if (edit.vertex_number == insert_page_) return {};
  if (!edit.new_page) {
    if (state.free_pages != edit.vertex_number) return asked_again();
    take_free_page(edit.editor, edit.vertex_page, state);
  }
  if (placement.own[0] != layout::kNoPage && placement.own[0] == full_page_) {
    if (state.free_pages != full_page_) return asked_again();
    take_free_page(edit.editor, edit.own[0], state);
  } else if (placement.own[0] != layout::kNoPage) {
    const PinnedPage own{edit.own[0], insert_page_};
    if (Status status = add_free_page(edit.editor, own, state); !status.ok()) return status;
  }
  state.insert_page = edit.vertex_number;
  return {};
}

}  // namespace farvec::paged
