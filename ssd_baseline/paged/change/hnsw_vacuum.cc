#include "ssd_baseline/paged/change/hnsw_vacuum.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "layout/store/store_page.h"
#include "ssd_baseline/paged/change/list_repair.h"
#include "ssd_baseline/paged/change/lost_vertices.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"
#include "ssd_baseline/paged/graph/pinned_pages.h"
#include "ssd_baseline/paged/placement/insert_page_sweep.h"

namespace farvec::paged {
namespace {

Status outdated() {
  return {StatusCode::cancelled, "a writer has changed what a vacuum was about to change"};
}

}  // namespace

struct HnswVacuum::State {
  enum class Phase : std::uint8_t { collect, repair, entry, detach, erase, relink, insert_pages };
  /// Is a vertex as it was when its page was looked at.
  struct Seen {
    graph::Handle handle = graph::kNoHandle;
    NodeId id = 0;
    std::uint32_t level = 0;
  };

  State(PagedHnsw& graph, PageFetcher& page_fetcher, const HnswVacuumOptions& wanted)
      : hnsw(graph),
        fetcher(page_fetcher),
        options(wanted),
        lists(graph, page_fetcher, wanted.reads),
        lost(graph.shape()),
        insert_pages(graph, page_fetcher, lists.counts().selection),
        pins(graph, page_fetcher, wanted.reads.mode) {}

  ~State() { end(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Begins, unless another vacuum works: a place that the other one has erased may hold another
  /// vertex by now.
  bool begin() { return begun || (begun = hnsw.begin_vacuum()); }
  void end() {
    if (std::exchange(begun, false)) hnsw.end_vacuum();
  }
  Result<bool> collect(Ticks deadline);
  Status repair(Ticks deadline);
  Result<bool> take_insert_pages(Ticks deadline);
  void note_repairs();
  Status move_entry(Ticks deadline);
  Status sweep(Ticks deadline);
  Result<bool> relink(Ticks deadline);
  Status detach_page(PageEditor& editor, PageNumber page);
  Status erase_page(PageEditor& editor, PageNumber page);
  std::span<const graph::Handle> condemned_on(PageNumber page) const;
  template <typename Look>
  Status look_at_page(PageNumber page, Ticks deadline, Look&& look);
  /// What ListRepair::Vertex has for all vertices of a page.
  struct PageRepair {
    PageNumber page = 0;
    std::span<const graph::Handle> condemned;
    LostVertices* lost_vertices = nullptr;
  };
  template <typename IsBroken>
  Status repair_page(const PageRepair& repair, Ticks deadline, IsBroken&& is_broken);
  bool is_condemned(graph::Handle handle) const {
    return std::binary_search(condemned.begin(), condemned.end(), handle);
  }
  Result<wal::Position> update(const std::function<Status(PageEditor&)>& edit);

  PagedHnsw& hnsw;
  PageFetcher& fetcher;
  const HnswVacuumOptions options;
  ListRepair lists;
  LostVertices lost;
  InsertPageSweep insert_pages;
  PinnedPages pins;
  HnswVacuumCounts done;
  wal::Position position = 0;
  std::uint64_t retries = 0;  ///< retries of its own updates

  bool begun = false;
  Phase phase = Phase::collect;
  PageNumber next = 1;                   ///< next page of the phase
  PageNumber pages_end = 0;              ///< pages that the round looks at
  std::vector<graph::Handle> condemned;  ///< marked before the repairs began, ascending
  std::size_t swept = 0;                 ///< how many condemned ones are detached, or erased
  Seen highest;                          ///< vertex that is not marked
  std::vector<Seen> broken;              ///< vertices to repair on the present page
  std::uint32_t freed = 0;
};

HnswVacuum::HnswVacuum(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswVacuumOptions& options)
    : state_(std::make_unique<State>(hnsw, fetcher, options)) {}
HnswVacuum::~HnswVacuum() = default;

wal::Position HnswVacuum::position() const {
  return state_->position;
}
const HnswVacuumCounts& HnswVacuum::done() const {
  return state_->done;
}
HnswCounts& HnswVacuum::counts() {
  return state_->lists.counts();
}

Result<bool> HnswVacuum::step(Ticks deadline) {
  State& s = *state_;
  if (!s.begin()) {
    return Status(StatusCode::resource_exhausted, "another vacuum works on the graph");
  }
  Status status;
  switch (s.phase) {
    case State::Phase::collect:
      return s.collect(deadline);
    case State::Phase::relink:
      return s.relink(deadline);
    case State::Phase::insert_pages:
      return s.take_insert_pages(deadline);
    case State::Phase::repair:
      status = s.repair(deadline);
      break;
    case State::Phase::entry:
      status = s.move_entry(deadline);
      break;
    case State::Phase::detach:
    case State::Phase::erase:
      status = s.sweep(deadline);
      break;
  }
  s.pins.clear();
  s.note_repairs();
  if (!status.ok()) return status;
  return true;
}

void HnswVacuum::State::note_repairs() {
  position = std::max(position, lists.position());
  done.repaired = lists.done().repaired;
  done.edges_back = lists.done().edges_back;
  done.relinked = lists.done().relinked;
  done.retries = retries + lists.done().retries;
}

/// Calls look(slot, vertex) for every vertex of a page, which is read as one update left it.
template <typename Look>
Status HnswVacuum::State::look_at_page(PageNumber page, Ticks deadline, Look&& look) {
  const auto pin = fetcher.fetch(page, deadline, lists.counts().selection);
  if (!pin.ok()) return pin.status();
  ++done.pages_scanned;
  return pin.value().read([&](std::span<const std::byte> bytes) -> Status {
    const std::uint32_t slots = layout::StorePage(bytes).slots();
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      const auto vertex =
          layout::HnswVertex::parse(hnsw.shape(), bytes, static_cast<std::uint16_t>(slot));
      if (vertex.ok()) look(static_cast<std::uint16_t>(slot), vertex.value());
      if (vertex.status().code() == StatusCode::data_loss) return vertex.status();
    }
    return {};
  });
}

/// Repairs the vertices of a page for which is_broken(place, vertex) holds.
template <typename IsBroken>
Status HnswVacuum::State::repair_page(const PageRepair& repair, Ticks deadline,
                                      IsBroken&& is_broken) {
  broken.clear();
  Status status = look_at_page(repair.page, deadline,
                               [&](std::uint16_t slot, const layout::HnswVertex& vertex) {
                                 const layout::HnswPlace place{repair.page, slot};
                                 if (!is_broken(place, vertex)) return;
                                 broken.push_back({place.handle(), vertex.id(), vertex.level()});
                               });
  for (std::size_t i = 0; i < broken.size() && status.ok(); ++i) {
    const Seen& seen = broken[i];
    status = lists.run(
        {seen.handle, seen.id, seen.level, repair.condemned, deadline, repair.lost_vertices});
  }
  return status;
}

Result<bool> HnswVacuum::State::collect(Ticks deadline) {
  if (next == 1) {
    condemned.clear();
    swept = 0;
    highest = {};
    pages_end = hnsw.store().pages();
    lost.begin(pages_end);
  }
  if (next < pages_end) {
    const PageNumber page = next;
    const Status status =
        look_at_page(page, deadline, [&](std::uint16_t slot, const layout::HnswVertex& vertex) {
          const graph::Handle handle = layout::HnswPlace{page, slot}.handle();
          if (vertex.marked()) {
            if (condemned.size() < options.round_vertices) condemned.push_back(handle);
            return;
          }
          lost.see(layout::HnswPlace::of(handle), vertex);
          if (highest.handle == graph::kNoHandle || vertex.level() > highest.level) {
            highest = {handle, vertex.id(), vertex.level()};
          }
        });
    if (!status.ok()) return status;
    ++next;
    return true;
  }
  next = 1;
  // No vertex is given an edge to a marked one any more: all that lead to these are on pages below
  // `pages_end`.
  pages_end = hnsw.store().pages();
  std::sort(condemned.begin(), condemned.end());
  phase = condemned.empty() ? Phase::relink : Phase::repair;
  return true;
}

/// Gives the lost vertices of one page an edge from a neighbour.
Result<bool> HnswVacuum::State::relink(Ticks deadline) {
  if (next == 1) {
    const auto now = hnsw.state(fetcher, deadline, lists.counts().meta);
    if (!now.ok()) return now.status();
    lost.name(now.value().entry());
  }
  const PageNumber page = lost.next_page(next);
  if (page == layout::kNoPage) {
    phase = Phase::insert_pages;
    next = 1;
    return true;
  }
  const Status status =
      repair_page({page, {}, &lost}, deadline,
                  [&](const layout::HnswPlace& place, const layout::HnswVertex& vertex) {
                    return !vertex.marked() && lost.is_lost(place);
                  });
  note_repairs();
  if (!status.ok()) return status;
  next = page + 1;
  return true;
}

/// Returns false after the last step of the sweep: the vacuum has ended.
Result<bool> HnswVacuum::State::take_insert_pages(Ticks deadline) {
  const InsertPageSweepCounts before = insert_pages.done();
  const auto more = insert_pages.step(deadline);
  done.insert_pages_taken += insert_pages.done().taken - before.taken;
  done.pages_freed += insert_pages.done().freed - before.freed;
  position = std::max(position, insert_pages.position());
  if (!more.ok() || more.value()) return more;
  phase = Phase::collect;
  end();
  return false;
}

Status HnswVacuum::State::repair(Ticks deadline) {
  if (next >= pages_end) {
    phase = Phase::entry;
    next = 1;
    return {};
  }
  const Status status = repair_page(
      {next, condemned}, deadline,
      [&](const layout::HnswPlace& place, const layout::HnswVertex& vertex) {
        return !is_condemned(place.handle()) && names_any(hnsw.shape(), vertex, condemned);
      });
  if (status.ok()) ++next;
  return status;
}

Result<wal::Position> HnswVacuum::State::update(const std::function<Status(PageEditor&)>& edit) {
  auto result = pins.update(edit);
  pins.clear();
  if (result.ok()) position = result.value();
  if (result.status().code() == StatusCode::cancelled) ++retries;
  return result;
}

/// Moves the entry, if it is condemned, to the highest vertex that is left.
Status HnswVacuum::State::move_entry(Ticks deadline) {
  FetchCounts& counts = lists.counts().meta;
  const auto now = hnsw.state(fetcher, deadline, counts);
  if (!now.ok()) return now.status();
  if (!is_condemned(now.value().entry().handle())) {
    phase = Phase::detach;
    return {};
  }
  pins.clear();
  pins.want(0);
  const bool any = highest.handle != graph::kNoHandle;
  const auto place = any ? layout::HnswPlace::of(highest.handle) : layout::HnswPlace{};
  pins.want(place.page);
  if (Status status = pins.pin(deadline, counts); !status.ok()) return status;
  const auto updated = update([&](PageEditor& editor) -> Status {
    auto state = edited_state(editor, pins.index(0));
    if (!state.ok()) return state.status();
    if (!is_condemned(state.value().entry().handle())) return outdated();
    if (!any) {
      if (state.value().vertices > 0) return outdated();
      state.value().set_entry({}, 0);
      return write_state(editor, pins.index(0), state.value());
    }
    const auto vertex =
        layout::HnswVertex::parse(hnsw.shape(), editor.bytes(pins.index(place.page)), place.slot);
    if (!vertex.ok() || vertex.value().id() != highest.id || vertex.value().marked()) {
      return outdated();
    }
    state.value().set_entry(place, vertex.value().level());
    return write_state(editor, pins.index(0), state.value());
  });
  if (updated.ok() || updated.status().code() != StatusCode::cancelled) return updated.status();
  // The highest one was deleted, or others have come: a round that begins now sees that.
  phase = Phase::collect;
  next = 1;
  return {};
}

/// Detaches, or erases, the condemned vertices of one page. All are detached before the first is
/// erased: of two that lead to each other one is erased before the other, and a vacuum may end
/// between the two.
Status HnswVacuum::State::sweep(Ticks deadline) {
  if (swept == condemned.size()) {
    phase = phase == Phase::detach ? Phase::erase : Phase::collect;
    swept = 0;
    return {};
  }
  const PageNumber page = layout::HnswPlace::of(condemned[swept]).page;
  pins.clear();
  pins.want(0);
  pins.want(page);
  const Status status = pins.pin(deadline, lists.counts().selection);
  if (!status.ok()) return status;
  freed = 0;
  const auto updated = update([&](PageEditor& editor) {
    return phase == Phase::detach ? detach_page(editor, page) : erase_page(editor, page);
  });
  if (!updated.ok()) return updated.status();
  done.removed += freed;
  swept += condemned_on(page).size();
  return {};
}

/// Returns the condemned vertices of a page, which are the next to be swept.
std::span<const graph::Handle> HnswVacuum::State::condemned_on(PageNumber page) const {
  std::size_t end = swept;
  while (end < condemned.size() && layout::HnswPlace::of(condemned[end]).page == page) ++end;
  return std::span(condemned).subspan(swept, end - swept);
}

/// Empties the lists of the page's condemned vertices. No edge leads to these any more, and now
/// none leads from them.
Status HnswVacuum::State::detach_page(PageEditor& editor, PageNumber page) {
  const layout::HnswShape& shape = hnsw.shape();
  const std::size_t at = pins.index(page);
  std::vector<layout::HnswPlace> none;
  for (const graph::Handle handle : condemned_on(page)) {
    const auto slot = layout::HnswPlace::of(handle).slot;
    const auto vertex = layout::HnswVertex::parse(shape, editor.bytes(at), slot);
    if (!vertex.ok() || !vertex.value().marked()) continue;
    none.resize(shape.first_place(vertex.value().level() + 1));
    const PinnedVertex lists_of{at, vertex.value().neighbors_slot()};
    const Status status = patch_places(editor, lists_of, shape.place_offset(0, 0), none);
    if (!status.ok()) return status;
  }
  return {};
}

Status HnswVacuum::State::erase_page(PageEditor& editor, PageNumber page) {
  const std::size_t meta = pins.index(0);
  const std::size_t at = pins.index(page);
  auto read = edited_state(editor, meta);
  if (!read.ok()) return read.status();
  layout::HnswState state = read.value();
  freed = 0;
  for (const graph::Handle handle : condemned_on(page)) {
    const auto place = layout::HnswPlace::of(handle);
    const auto vertex = layout::HnswVertex::parse(hnsw.shape(), editor.bytes(at), place.slot);
    if (!vertex.ok() || !vertex.value().marked() || place == state.entry()) continue;
    if (Status s = erase_vertex(editor, {at, place.slot}, vertex.value()); !s.ok()) return s;
    ++freed;
  }
  state.marked -= freed;
  if (freed > 0 && page != state.insert_page) {
    const PageNumber first = state.free_pages;
    if (Status s = add_free_page(editor, {at, page}, state); !s.ok()) return s;
    done.pages_freed += state.free_pages != first ? 1 : 0;
  }
  return write_state(editor, meta, state);
}

}  // namespace farvec::paged
