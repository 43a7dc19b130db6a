#include "ssd_baseline/paged/graph/id_map.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"

namespace farvec::paged {
namespace {

/// The most pages that are made for one id. The tree has fewer levels.
constexpr int kExtensions = 32;
/// The time between two looks whether it is the caller's turn.
constexpr double kTurnLookUs = 50;

/// Ends the turn of a caller that makes pages, however it ends.
class IdPagesTurn {
 public:
  explicit IdPagesTurn(PagedHnsw& hnsw) : hnsw_(hnsw) {}
  ~IdPagesTurn() { hnsw_.end_id_pages(); }
  IdPagesTurn(const IdPagesTurn&) = delete;
  IdPagesTurn& operator=(const IdPagesTurn&) = delete;

 private:
  PagedHnsw& hnsw_;
};

}  // namespace

Result<layout::HnswPlace> edited_entry(const PageEditor& editor, std::size_t leaf,
                                       const layout::IdMapShape& shape, NodeId id) {
  const auto tuple = layout::id_map_tuple(shape, editor.bytes(leaf), 0);
  if (!tuple.ok()) return tuple.status();
  return layout::load_place(tuple.value().data() + shape.offset(0, id));
}

Status write_entry(PageEditor& editor, std::size_t leaf, std::uint32_t offset,
                   layout::HnswPlace place) {
  std::array<std::byte, layout::HnswPlace::kBytes> bytes;
  layout::store_place(bytes.data(), place);
  return editor.patch(leaf, 0, offset, bytes);
}

Result<IdMap::Way> IdMap::walk(NodeId id, Ticks deadline, FetchCounts& counts) {
  const auto state = hnsw_.state(fetcher_, deadline, counts);
  if (!state.ok()) return state.status();
  Way way;
  way.state = state.value();
  if (way.state.id_map == layout::kNoPage || !shape_.reaches(way.state.id_map_height, id)) {
    return way;
  }
  way.page = way.state.id_map;
  way.height = way.state.id_map_height;
  for (;;) {
    const auto pin = fetcher_.fetch(way.page, deadline, counts);
    if (!pin.ok()) return pin.status();
    PageNumber next = layout::kNoPage;
    const Status status = pin.value().read([&](std::span<const std::byte> bytes) -> Status {
      const auto tuple = layout::id_map_tuple(shape_, bytes, way.height);
      if (!tuple.ok()) return tuple.status();
      const std::byte* entry = tuple.value().data() + shape_.offset(way.height, id);
      if (way.height == 0) {
        way.place = layout::load_place(entry);
      } else {
        next = load_unaligned<PageNumber>(entry);
      }
      return {};
    });
    if (!status.ok()) return status;
    if (next == layout::kNoPage) return way;
    if (next >= hnsw_.store().pages()) {
      return Status(StatusCode::data_loss, "the id map leads to a page that does not exist");
    }
    way.page = next;
    --way.height;
  }
}

Result<IdEntry> IdMap::find(NodeId id, Ticks deadline, FetchCounts& counts) {
  const auto way = walk(id, deadline, counts);
  if (!way.ok()) return way.status();
  if (!way.value().complete()) return IdEntry{};
  return IdEntry{way.value().page, way.value().place};
}

Result<IdEntry> IdMap::find_or_make(NodeId id, Ticks deadline, FetchCounts& counts) {
  const auto found = find(id, deadline, counts);
  if (!found.ok() || found.value().leaf != layout::kNoPage) return found;
  if (Status status = wait_for_turn(deadline); !status.ok()) return status;
  const IdPagesTurn turn(hnsw_);
  return make(id, deadline, counts);
}

Status IdMap::wait_for_turn(Ticks deadline) {
  while (!hnsw_.begin_id_pages()) {
    const Ticks now = now_ticks();
    if (now >= deadline) {
      return {StatusCode::deadline_exceeded, "another insert made pages of the id map"};
    }
    fetcher_.scheduler().suspend_until(std::min(deadline, now + us_to_ticks(kTurnLookUs)));
  }
  return {};
}

/// Makes the pages that are missing on the way to the id, unless the one before has made them.
Result<IdEntry> IdMap::make(NodeId id, Ticks deadline, FetchCounts& counts) {
  for (int i = 0; i < kExtensions; ++i) {
    const auto way = walk(id, deadline, counts);
    if (!way.ok()) return way.status();
    if (way.value().complete()) return IdEntry{way.value().page, way.value().place};
    if (Status status = extend(way.value(), id, deadline, counts); !status.ok()) return status;
  }
  return Status(StatusCode::data_loss, "the id map has too many levels");
}

std::uint32_t IdMap::added_height(const Way& way, NodeId id) const {
  if (way.page != layout::kNoPage) return way.height - 1;
  if (way.state.id_map != layout::kNoPage) return way.state.id_map_height + 1;
  std::uint32_t height = 0;
  while (!shape_.reaches(height, id)) ++height;
  return height;
}

/// Makes one page more: below the last one of the way, or a root above the one that is too low.
Status IdMap::extend(const Way& way, NodeId id, Ticks deadline, FetchCounts& counts) {
  pins_.clear();
  pins_.want(0);
  pins_.want(way.page);
  Status status = pins_.pin(deadline, counts);
  if (status.ok() && !spare_) {
    auto made = fetcher_.add_page(deadline);
    status = made.status();
    if (made.ok()) spare_ = std::move(made).value();
  }
  if (!status.ok()) {
    pins_.clear();
    return status;
  }
  const PageNumber added = spare_.number();
  pins_.add(std::move(spare_));
  const auto done = pins_.update([&](PageEditor& e) { return edit(e, way, id, added); });
  if (!done.ok()) spare_ = pins_.release(added);
  pins_.clear();
  return done.status();
}

Status IdMap::edit(PageEditor& editor, const Way& way, NodeId id, PageNumber added) {
  const std::size_t meta = pins_.index(0);
  const std::size_t page = pins_.index(added);
  const auto now = edited_state(editor, meta);
  if (!now.ok()) return now.status();
  layout::HnswState state = now.value();
  const std::uint32_t height = added_height(way, id);
  std::vector<std::byte> tuple(shape_.tuple_bytes(height), std::byte{0xff});
  if (way.page == layout::kNoPage) {
    FARVEC_CHECK(state.id_map == way.state.id_map, "pages of the id map are made in turns");
    if (state.id_map != layout::kNoPage) store_unaligned(tuple.data(), state.id_map);
    state.id_map = added;
    state.id_map_height = height;
  } else {
    const std::size_t parent = pins_.index(way.page);
    const auto entries = layout::id_map_tuple(shape_, editor.bytes(parent), way.height);
    if (!entries.ok()) return entries.status();
    const std::uint32_t offset = shape_.offset(way.height, id);
    FARVEC_CHECK(load_unaligned<PageNumber>(entries.value().data() + offset) == layout::kNoPage,
                 "pages of the id map are made in turns");
    if (Status status = editor.patch(parent, 0, offset, bytes_of(added)); !status.ok()) {
      return status;
    }
  }
  ++state.pages_of(layout::HnswPageKind::id_map);
  editor.init(page, static_cast<std::uint16_t>(layout::HnswPageKind::id_map), height,
              layout::kNoPage);
  if (Status status = editor.put(page, 0, tuple); !status.ok()) return status;
  return write_state(editor, meta, state);
}

}  // namespace farvec::paged
