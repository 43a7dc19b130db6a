#include "ssd_baseline/hnsw/hnsw_vacuum.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "layout/store/store_page.h"
#include "ssd_baseline/hnsw/hnsw_edit.h"
#include "ssd_baseline/hnsw/list_repair.h"
#include "ssd_baseline/hnsw/pinned_pages.h"

namespace farvec::ssd_baseline {
namespace {

Status outdated() {
  return {StatusCode::cancelled, "a writer has changed what a vacuum was about to change"};
}

}  // namespace

struct HnswVacuum::State {
  enum class Phase : std::uint8_t { collect, repair, entry, erase };
  /// A vertex of the page that is looked at, as it was.
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
        pins(page_fetcher, wanted.reads.mode) {}

  ~State() { end(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// What another vacuum has erased may be somebody else's place by now: no two at a time.
  bool begin() { return begun || (begun = hnsw.begin_vacuum()); }
  void end() {
    if (std::exchange(begun, false)) hnsw.end_vacuum();
  }
  Result<bool> collect(Ticks deadline);
  Status repair(Ticks deadline);
  void note_repairs();
  Status move_entry(Ticks deadline);
  Status erase(Ticks deadline);
  Status erase_page(PageEditor& editor, PageNumber page);
  template <typename Look>
  Status look_at_page(PageNumber page, Ticks deadline, Look&& look);
  bool is_condemned(graph::Handle handle) const {
    return std::binary_search(condemned.begin(), condemned.end(), handle);
  }
  Result<wal::Position> update(const std::function<Status(PageEditor&)>& edit);

  PagedHnsw& hnsw;
  PageFetcher& fetcher;
  const HnswVacuumOptions options;
  ListRepair lists;
  PinnedPages pins;
  HnswVacuumCounts done;
  wal::Position position = 0;
  std::uint64_t retries = 0;  ///< of its own updates

  bool begun = false;
  Phase phase = Phase::collect;
  PageNumber next = 1;                   ///< page of the phase
  PageNumber pages_end = 0;              ///< pages that the round looks at
  std::vector<graph::Handle> condemned;  ///< marked before the repairs began, ascending
  std::size_t erased = 0;                ///< of them
  Seen highest;                          ///< vertex that is not marked
  std::vector<Seen> broken;              ///< of the page that is repaired
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
    case State::Phase::repair:
      status = s.repair(deadline);
      break;
    case State::Phase::entry:
      status = s.move_entry(deadline);
      break;
    case State::Phase::erase:
      status = s.erase(deadline);
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
  done.retries = retries + lists.done().retries;
}

/// look(slot, vertex) for every vertex of a page, as one update left it.
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

Result<bool> HnswVacuum::State::collect(Ticks deadline) {
  if (next == 1) {
    condemned.clear();
    erased = 0;
    highest = {};
    pages_end = hnsw.store().pages();
  }
  if (next < pages_end) {
    const PageNumber page = next;
    const Status status =
        look_at_page(page, deadline, [&](std::uint16_t slot, const layout::HnswVertex& vertex) {
          const graph::Handle handle = layout::HnswPlace{page, slot}.handle();
          if (vertex.marked()) {
            if (condemned.size() < options.round_vertices) condemned.push_back(handle);
          } else if (highest.handle == graph::kNoHandle || vertex.level() > highest.level) {
            highest = {handle, vertex.id(), vertex.level()};
          }
        });
    if (!status.ok()) return status;
    ++next;
    return true;
  }
  next = 1;
  // Nothing is given an edge to a marked vertex any more: what leads to these lies before this.
  pages_end = hnsw.store().pages();
  std::sort(condemned.begin(), condemned.end());
  if (condemned.empty()) {
    end();
    return false;
  }
  phase = Phase::repair;
  return true;
}

Status HnswVacuum::State::repair(Ticks deadline) {
  if (next >= pages_end) {
    phase = Phase::entry;
    next = 1;
    return {};
  }
  const PageNumber page = next;
  broken.clear();
  Status status =
      look_at_page(page, deadline, [&](std::uint16_t slot, const layout::HnswVertex& vertex) {
        const graph::Handle handle = layout::HnswPlace{page, slot}.handle();
        if (is_condemned(handle) || !names_any(hnsw.shape(), vertex, condemned)) return;
        broken.push_back({handle, vertex.id(), vertex.level()});
      });
  for (std::size_t i = 0; i < broken.size() && status.ok(); ++i) {
    const Seen& seen = broken[i];
    status = lists.run({seen.handle, seen.id, seen.level, condemned, deadline});
  }
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

/// To the highest vertex that is left.
Status HnswVacuum::State::move_entry(Ticks deadline) {
  FetchCounts& counts = lists.counts().meta;
  const auto now = hnsw.state(fetcher, deadline, counts);
  if (!now.ok()) return now.status();
  if (!is_condemned(now.value().entry().handle())) {
    phase = Phase::erase;
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
  // The highest one was deleted, or others have come: a round that begins now knows them.
  phase = Phase::collect;
  next = 1;
  return {};
}

/// One page's marked vertices.
Status HnswVacuum::State::erase(Ticks deadline) {
  if (erased == condemned.size()) {
    phase = Phase::collect;
    return {};
  }
  const PageNumber page = layout::HnswPlace::of(condemned[erased]).page;
  pins.clear();
  pins.want(0);
  pins.want(page);
  const Status status = pins.pin(deadline, lists.counts().selection);
  if (!status.ok()) return status;
  const auto updated = update([&](PageEditor& editor) { return erase_page(editor, page); });
  if (!updated.ok()) return updated.status();
  done.removed += freed;
  while (erased < condemned.size() && layout::HnswPlace::of(condemned[erased]).page == page) {
    ++erased;
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
  for (std::size_t i = erased; i < condemned.size(); ++i) {
    const auto place = layout::HnswPlace::of(condemned[i]);
    if (place.page != page) break;
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

}  // namespace farvec::ssd_baseline
