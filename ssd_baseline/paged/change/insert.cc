#include "ssd_baseline/paged/change/insert.h"

#include <algorithm>
#include <array>
#include <utility>

#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

/// Updates that one insert tries. The last one leaves out edges whose lists have changed.
constexpr int kInsertAttempts = 16;
/// Updates that find the page full, which another insert has filled: each of these is one that went
/// in.
constexpr int kPlaceAttempts = 1024;
/// Pages besides those of neighbours: the meta page, the leaf of the id map, and the page of the
/// vertex that is replaced.
constexpr std::size_t kOwnPages = 3;

}  // namespace

Insert::Insert(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswWriterOptions& options, IdMap& ids,
               HnswWriteCounts& written)
    : hnsw_(hnsw),
      fetcher_(fetcher),
      ids_(ids),
      written_(written),
      fallback_(hnsw, fetcher),
      policy_(options.placement != nullptr ? *options.placement : fallback_),
      finder_(hnsw, fetcher, options.reads),
      back_edges_(hnsw, finder_),
      pins_(hnsw, fetcher, options.reads.mode),
      page_(hnsw.shape().page_bytes) {}

Result<wal::Position> Insert::run(const Vertex& vertex) {
  vertex_ = vertex;
  level_ = graph::level_of(hnsw_.levels(), vertex.id);
  if (Status status = find_id(); !status.ok()) return status;
  auto done = try_to_insert();
  give_up_spare();
  pins_.clear();
  return done;
}

Result<wal::Position> Insert::try_to_insert() {
  if (Status status = take_room(); !status.ok()) return status;
  obstacle_ = Obstacle::graph;
  int places = 0;
  for (int attempt = 0; attempt < kInsertAttempts && places < kPlaceAttempts;) {
    last_attempt_ = attempt + 1 == kInsertAttempts;
    Status status = obstacle_ == Obstacle::id ? find_id() : Status();
    if (status.ok() && obstacle_ <= Obstacle::graph) status = search();
    if (status.ok()) {
      status = back_edges_.plan({.id = vertex_.id, .vector = vertex_.vector, .needs_edge = true},
                                vertex_.deadline);
    }
    if (status.ok()) status = place();
    if (!status.ok()) return status;
    auto done = commit();
    if (done.ok() || obstacle_ == Obstacle::none) return done;
    ++(obstacle_ == Obstacle::room ? places : attempt);
    ++written_.retries;
  }
  if (places == kPlaceAttempts) {
    return Status(StatusCode::resource_exhausted,
                  "whatever page an insert chose, others filled it first: insert it again, or with "
                  "fewer at once");
  }
  return Status(StatusCode::resource_exhausted,
                "whatever neighbours an insert chose, others deleted or changed them first: insert "
                "it again, or with fewer at once");
}

/// Takes room in the buffer for the pages of all neighbours that the vertex may get.
Status Insert::take_room() {
  std::size_t pages = kOwnPages;
  for (std::uint32_t layer = 0; layer <= level_; ++layer) {
    pages += hnsw_.shape().degree(layer);
  }
  return pins_.take_room(pages, vertex_.deadline);
}

/// Finds the place that the id has, if it has one.
Status Insert::find_id() {
  const auto entry = ids_.find_or_make(vertex_.id, vertex_.deadline, counts().meta);
  if (entry.ok()) entry_ = entry.value();
  return entry.status();
}

Status Insert::search() {
  const bool replaces = !entry_.place.empty();
  Status status = finder_.find({.id = vertex_.id,
                                .vector = vertex_.vector,
                                .level = level_,
                                .self = replaces ? entry_.place.handle() : graph::kNoHandle,
                                .deadline = vertex_.deadline});
  if (status.ok()) back_edges_.begin(level_);
  return status;
}

/// Pins what the update needs and asks the policy for a page.
Status Insert::place() {
  pins_.unpin();
  pins_.want(0);
  pins_.want(entry_.leaf);
  if (!entry_.place.empty()) pins_.want(entry_.place.page);
  back_edges_.want_pages(pins_);
  if (Status s = pins_.pin(vertex_.deadline, counts().selection); !s.ok()) return s;
  partitions_.clear();
  for (const graph::Candidate& neighbor : finder_.chosen(0)) {
    const PagePin& pin = pins_.at(layout::HnswPlace::of(neighbor.handle).page);
    const std::uint32_t tag = pin.read(
        [](std::span<const std::byte> bytes) { return layout::StorePage(bytes).header().tag; });
    partitions_.push_back(tag & ~layout::kHnswFreeListBit);
  }
  const auto placement = policy_.choose({.id = vertex_.id,
                                         .level = level_,
                                         .neighbors = finder_.chosen(0),
                                         .partitions = partitions_,
                                         .deadline = vertex_.deadline});
  if (!placement.ok()) return placement.status();
  placement_ = placement.value();
  vertex_page_ = placement_.page;
  pins_.want(placement_.page);
  for (const PageNumber own : placement_.own) pins_.want(own);
  if (Status s = pins_.pin(vertex_.deadline, counts().selection); !s.ok()) return s;
  if (!is_new_page()) return {};
  if (!spare_) spare_ = hnsw_.take_spare_page();
  if (!spare_) {
    auto added = fetcher_.add_page(vertex_.deadline);
    if (!added.ok()) return added.status();
    spare_ = std::move(added).value();
  }
  vertex_page_ = spare_.number();
  pins_.add(std::move(spare_));
  return {};
}

Result<wal::Position> Insert::commit() {
  obstacle_ = Obstacle::none;
  replaced_ = false;
  const auto done = pins_.update([this](PageEditor& editor) { return edit(editor); });
  if (!done.ok() && is_new_page()) spare_ = pins_.release(vertex_page_);
  pins_.unpin();
  if (done.ok()) {
    ++written_.inserted;
    written_.replaced += replaced_ ? 1 : 0;
    written_.left_out += left_out_;
    written_.edges_back += edges_back_;
    written_.pages_added += is_new_page() ? 1 : 0;
  }
  return done;
}

/// Gives the page that the insert has not used to others. It holds a page of the buffer that no
/// other insert expects.
void Insert::give_up_spare() {
  if (!spare_ || hnsw_.keep_spare_page(spare_)) return;
  pins_.unpin();
  const Status status = add_spare_to_free_pages();
  if (!status.ok()) (void)hnsw_.keep_spare_page(spare_, true);
}

/// Puts the page on the list of those with free space.
Status Insert::add_spare_to_free_pages() {
  pins_.want(0);
  if (Status s = pins_.pin(vertex_.deadline, counts().meta); !s.ok()) return s;
  const PageNumber number = spare_.number();
  pins_.add(std::move(spare_));
  const auto done = pins_.update([&](PageEditor& editor) -> Status {
    const std::size_t meta = pins_.index(0);
    const std::size_t page = pins_.index(number);
    auto state = edited_state(editor, meta);
    if (!state.ok()) return state.status();
    editor.init(page, static_cast<std::uint16_t>(layout::HnswPageKind::vertices), 0,
                layout::kNoPage);
    ++state.value().pages_of(layout::HnswPageKind::vertices);
    if (Status s = add_free_page(editor, {page, number}, state.value()); !s.ok()) return s;
    return write_state(editor, meta, state.value());
  });
  if (!done.ok()) spare_ = pins_.release(number);
  written_.pages_added += done.ok() ? 1 : 0;
  return done.status();
}

Status Insert::obstructed(Obstacle obstacle) {
  obstacle_ = obstacle;
  return {StatusCode::cancelled, "an insert has met another"};
}

/// Looks whether all is as it was when the insert was planned; changes nothing if it is not.
Status Insert::edit(PageEditor& editor) {
  const std::size_t meta = pins_.index(0);
  const std::size_t leaf = pins_.index(entry_.leaf);
  const auto now = edited_state(editor, meta);
  if (!now.ok()) return now.status();
  layout::HnswState state = now.value();
  const auto replaces = look_at_id(editor);
  if (!replaces.ok()) return replaces.status();
  const bool first = finder_.chosen(0).empty();
  // A vertex planned as the first one would take the entry, and no edge would lead to the others.
  if (first && state.vertices > (replaces.value() ? 1u : 0u)) return obstructed(Obstacle::graph);
  if (Status s = look_at_neighbors(editor); !s.ok()) return s;
  if (Status s = look_at_lists(editor); !s.ok()) return s;
  if (Status s = prepare_page(editor, state); !s.ok()) return s;
  const auto slot = put_vertex(editor, pins_.index(vertex_page_),
                               {hnsw_.shape(), vertex_.id, level_, vertex_.vector, page_});
  if (!slot.ok()) return slot.status();
  const layout::HnswPlace place{vertex_page_, slot.value()};
  if (Status s = link(editor, place); !s.ok()) return s;
  if (Status s = write_entry(editor, leaf, ids_.shape().offset(0, vertex_.id), place); !s.ok()) {
    return s;
  }
  // A first vertex becomes the entry even where marked ones are left: from those nothing leads on.
  if (first || level_ > state.entry_level) state.set_entry(place, level_);
  ++state.vertices;
  if (replaces.value()) {
    if (Status s = mark_replaced(editor, state); !s.ok()) return s;
  }
  return write_state(editor, meta, state);
}

/// Looks whether the id has the place that it had. Returns whether a vertex is to be replaced.
Result<bool> Insert::look_at_id(const PageEditor& editor) {
  const std::size_t leaf = pins_.index(entry_.leaf);
  const auto known = edited_entry(editor, leaf, ids_.shape(), vertex_.id);
  if (!known.ok()) return known.status();
  if (!known.value().empty() && vertex_.if_there == IfThere::refuse) {
    return Status(StatusCode::failed_precondition, "the id is in the graph already");
  }
  if (known.value() != entry_.place) return obstructed(Obstacle::id);
  return !entry_.place.empty();
}

/// Marks the vertex that had the id, in the same update: one of the two is there after a kill.
Status Insert::mark_replaced(PageEditor& editor, layout::HnswState& state) {
  replaced_ = true;
  return mark_vertex(editor, {pins_.index(entry_.place.page), entry_.place.slot},
                     {.shape = hnsw_.shape(), .id = vertex_.id}, state);
}

/// Drops neighbours that were marked since they were chosen: a vacuum may be past this vertex, and
/// would not repair its list.
Status Insert::look_at_neighbors(const PageEditor& editor) {
  left_out_ = 0;
  for (std::uint32_t layer = 0; layer <= level_; ++layer) {
    alive_[layer].clear();
    for (const graph::Candidate& neighbor : finder_.chosen(layer)) {
      if (is_alive(hnsw_.shape(), editor, pins_, neighbor, layer))
        alive_[layer].push_back(neighbor);
    }
    left_out_ += static_cast<std::uint32_t>(finder_.chosen(layer).size() - alive_[layer].size());
  }
  // Without a neighbour on layer 0 no edge would lead to the vertex, nor from it.
  if (alive_[0].empty() && !finder_.chosen(0).empty()) return obstructed(Obstacle::graph);
  return {};
}

Status Insert::look_at_lists(const PageEditor& editor) {
  const std::uint32_t changed = back_edges_.look_again(editor, pins_, last_attempt_);
  if (changed > 0 && !last_attempt_) return obstructed(Obstacle::lists);
  if (!finder_.chosen(0).empty() && !back_edges_.leads_back()) return obstructed(Obstacle::graph);
  left_out_ += changed;
  return {};
}

Status Insert::prepare_page(PageEditor& editor, layout::HnswState& state) {
  const std::size_t page = pins_.index(vertex_page_);
  if (is_new_page()) {
    editor.init(page, static_cast<std::uint16_t>(layout::HnswPageKind::vertices),
                placement_.partition, layout::kNoPage);
    ++state.pages_of(layout::HnswPageKind::vertices);
  } else if (!layout::has_vertex_room(hnsw_.shape(), editor.bytes(page), level_)) {
    return obstructed(Obstacle::room);
  }
  PlacementEdit edit{.editor = editor,
                     .state = state,
                     .vertex_page = page,
                     .vertex_number = vertex_page_,
                     .new_page = is_new_page()};
  for (std::size_t i = 0; i < kPolicyPages; ++i) {
    if (placement_.own[i] != layout::kNoPage) edit.own[i] = pins_.index(placement_.own[i]);
  }
  const Status status = policy_.note(placement_, edit);
  return status.code() == StatusCode::cancelled ? obstructed(Obstacle::room) : status;
}

/// Writes the edges from the vertex and those back to it.
Status Insert::link(PageEditor& editor, layout::HnswPlace place) {
  const layout::HnswShape& shape = hnsw_.shape();
  const std::size_t page = pins_.index(vertex_page_);
  const auto vertex = layout::HnswVertex::parse(shape, editor.bytes(page), place.slot);
  if (!vertex.ok()) return vertex.status();
  const PinnedVertex own{page, vertex.value().neighbors_slot()};
  std::vector<layout::HnswPlace> places;
  for (std::uint32_t layer = 0; layer <= level_; ++layer) {
    places.clear();
    for (const graph::Candidate& neighbor : alive_[layer]) {
      places.push_back(layout::HnswPlace::of(neighbor.handle));
    }
    const Status status = patch_places(editor, own, shape.place_offset(layer, 0), places);
    if (!status.ok()) return status;
  }
  edges_back_ = 0;
  return back_edges_.link(editor, pins_, place, edges_back_);
}

}  // namespace farvec::paged
