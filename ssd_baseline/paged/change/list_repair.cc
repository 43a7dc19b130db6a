#include "ssd_baseline/paged/change/list_repair.h"

#include <algorithm>

namespace farvec::paged {
namespace {

/// Times that one vertex's lists are chosen. The last time leaves out edges back whose lists have
/// changed.
constexpr int kRepairAttempts = 16;

Status met_another() {
  return {StatusCode::cancelled, "a repair has met a writer"};
}

/// Calls look(layer, handle) for every member of the vertex's lists.
template <typename Look>
void each_neighbor(const layout::HnswShape& shape, const layout::HnswVertex& vertex, Look&& look) {
  for (std::uint32_t layer = 0; layer <= vertex.level(); ++layer) {
    for (std::uint32_t i = 0; i < shape.degree(layer); ++i) {
      const auto place = vertex.neighbor(shape, layer, i);
      if (!place.empty()) look(layer, place.handle());
    }
  }
}

/// Returns the bytes of the places on all layers, which lie one after the other.
std::span<const std::byte> all_places(const layout::HnswShape& shape,
                                      const layout::HnswVertex& vertex) {
  const std::size_t places = shape.first_place(vertex.level() + 1);
  return {vertex.places(shape, 0).data(), places * layout::HnswPlace::kBytes};
}

}  // namespace

bool names_any(const layout::HnswShape& shape, const layout::HnswVertex& vertex,
               std::span<const graph::Handle> condemned) {
  bool any = false;
  each_neighbor(shape, vertex, [&](std::uint32_t, graph::Handle handle) {
    any = any || std::binary_search(condemned.begin(), condemned.end(), handle);
  });
  return any;
}

ListRepair::ListRepair(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options)
    : hnsw_(hnsw),
      finder_(hnsw, fetcher, options),
      back_edges_(hnsw, finder_),
      pins_(hnsw, fetcher, options.mode) {}

Status ListRepair::run(const Vertex& vertex) {
  vertex_ = vertex;
  const Status status = try_to_repair();
  pins_.clear();
  return status;
}

Status ListRepair::try_to_repair() {
  if (Status status = take_room(); !status.ok()) return status;
  for (int attempt = 0; attempt < kRepairAttempts; ++attempt) {
    const auto broken = read_lists();
    if (!broken.ok() || !broken.value()) return broken.status();
    if (Status status = choose(); !status.ok()) return status;
    if (vertex_.lost != nullptr && back_edges_.is_named()) return {};
    const auto updated = commit(attempt + 1 == kRepairAttempts);
    if (updated.ok() || updated.status().code() != StatusCode::cancelled) return updated.status();
    ++done_.retries;
  }
  return {StatusCode::resource_exhausted, "the graph kept changing under a vacuum"};
}

/// Takes room in the buffer for the vertex's page, and those of all neighbours that it may get.
Status ListRepair::take_room() {
  std::size_t pages = 1;
  for (std::uint32_t layer = 0; layer <= vertex_.level; ++layer) {
    pages += hnsw_.shape().degree(layer);
  }
  return pins_.take_room(pages, vertex_.deadline);
}

bool ListRepair::is_condemned(graph::Handle handle) const {
  return std::binary_search(vertex_.condemned.begin(), vertex_.condemned.end(), handle);
}

/// Sorts the members of the lists: the condemned ones lead to others, the rest may be chosen again.
void ListRepair::note_neighbors(const layout::HnswVertex& vertex) {
  leaving_.clear();
  for (auto& layer : also_) layer.clear();
  each_neighbor(hnsw_.shape(), vertex, [&](std::uint32_t layer, graph::Handle handle) {
    if (is_condemned(handle)) {
      leaving_.push_back(handle);
    } else {
      also_[layer].push_back(handle);
    }
  });
}

/// Reads the vertex. Returns false when it needs no repair.
Result<bool> ListRepair::read_lists() {
  bool broken = false;
  const Status status = finder_.reader().read(
      {&vertex_.handle, 1}, vertex_.deadline, counts().selection,
      [&](std::uint32_t, const layout::HnswVertex& vertex) -> Status {
        broken = vertex.id() == vertex_.id &&
                 (vertex_.lost != nullptr || names_any(hnsw_.shape(), vertex, vertex_.condemned));
        const auto places = all_places(hnsw_.shape(), vertex);
        vector_.assign(vertex.vector(), vertex.vector() + hnsw_.shape().vector_bytes());
        lists_.assign(places.begin(), places.end());
        note_neighbors(vertex);
        return {};
      });
  if (!status.ok()) return status;
  return broken;
}

Status ListRepair::read_condemned() {
  return finder_.reader().read(
      leaving_, vertex_.deadline, counts().selection,
      [&](std::uint32_t, const layout::HnswVertex& vertex) -> Status {
        each_neighbor(hnsw_.shape(), vertex, [&](std::uint32_t layer, graph::Handle handle) {
          if (layer <= vertex_.level && !is_condemned(handle)) also_[layer].push_back(handle);
        });
        return {};
      });
}

Status ListRepair::choose() {
  if (Status status = read_condemned(); !status.ok()) return status;
  Status status = finder_.find({.id = vertex_.id,
                                .vector = vector_.data(),
                                .level = vertex_.level,
                                .self = vertex_.handle,
                                .deadline = vertex_.deadline,
                                .also = &also_});
  if (!status.ok()) return status;
  back_edges_.begin(vertex_.level);
  return back_edges_.plan({.id = vertex_.id,
                           .vector = vector_.data(),
                           .self = vertex_.handle,
                           .needs_edge = vertex_.lost != nullptr,
                           .lost = vertex_.lost},
                          vertex_.deadline);
}

Result<wal::Position> ListRepair::commit(bool last_attempt) {
  pins_.unpin();
  pins_.want(layout::HnswPlace::of(vertex_.handle).page);
  back_edges_.want_pages(pins_);
  Status status = pins_.pin(vertex_.deadline, counts().selection);
  if (status.ok()) {
    const auto updated =
        pins_.update([&](PageEditor& editor) { return edit(editor, last_attempt); });
    status = updated.status();
    if (updated.ok()) position_ = updated.value();
  }
  pins_.unpin();
  if (!status.ok()) return status;
  done_.edges_back += edges_back_;
  if (vertex_.lost == nullptr) {
    ++done_.repaired;
  } else {
    done_.relinked += edges_back_ > 0 ? 1 : 0;
    back_edges_.each_dropped([&](layout::HnswPlace place) { vertex_.lost->drop(place); });
  }
  return position_;
}

/// Looks whether all is as it was when the lists were chosen; changes nothing if it is not.
Status ListRepair::edit(PageEditor& editor, bool last_attempt) {
  const layout::HnswShape& shape = hnsw_.shape();
  const auto own = layout::HnswPlace::of(vertex_.handle);
  const std::size_t page = pins_.index(own.page);
  const auto vertex = layout::HnswVertex::parse(shape, editor.bytes(page), own.slot);
  if (!vertex.ok() || vertex.value().id() != vertex_.id) return met_another();
  const auto now = all_places(shape, vertex.value());
  if (!std::equal(now.begin(), now.end(), lists_.begin(), lists_.end())) return met_another();
  const bool marked = vertex.value().marked();
  const PinnedVertex neighbors{page, vertex.value().neighbors_slot()};
  if (back_edges_.look_again(editor, pins_, last_attempt) > 0 && !last_attempt) {
    return met_another();
  }
  edges_back_ = 0;
  if (vertex_.lost == nullptr) {
    if (Status status = write_lists(editor, neighbors); !status.ok()) return status;
  }
  // No vertex is given an edge to a marked one.
  return marked ? Status() : back_edges_.link(editor, pins_, own, edges_back_);
}

Status ListRepair::write_lists(PageEditor& editor, const PinnedVertex& neighbors) {
  const layout::HnswShape& shape = hnsw_.shape();
  std::vector<layout::HnswPlace> places;
  for (std::uint32_t layer = 0; layer <= vertex_.level; ++layer) {
    places.clear();
    for (const graph::Candidate& c : finder_.chosen(layer)) {
      if (!is_alive(shape, editor, pins_, c, layer)) continue;
      places.push_back(layout::HnswPlace::of(c.handle));
    }
    places.resize(shape.degree(layer));
    const Status status = patch_places(editor, neighbors, shape.place_offset(layer, 0), places);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace farvec::paged
