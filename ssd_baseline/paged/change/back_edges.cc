#include "ssd_baseline/paged/change/back_edges.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ssd_baseline/paged/graph/hnsw_edit.h"

namespace farvec::paged {
namespace {

/// Stands for the new vertex among the candidates of a list: it has no place in the list.
constexpr graph::Handle kNewcomer = graph::kNoHandle - 1;

}  // namespace

bool is_alive(const layout::HnswShape& shape, const PageEditor& editor, const PinnedPages& pins,
              const graph::Candidate& neighbor, std::uint32_t layer) {
  const auto place = layout::HnswPlace::of(neighbor.handle);
  const auto vertex =
      layout::HnswVertex::parse(shape, editor.bytes(pins.index(place.page)), place.slot);
  return vertex.ok() && vertex.value().id() == neighbor.id && !vertex.value().marked() &&
         vertex.value().level() >= layer;
}

void BackEdges::begin(std::uint32_t level) {
  edges_.clear();
  bytes_.clear();
  for (std::uint32_t layer = 0; layer <= level; ++layer) {
    for (const graph::Candidate& target : finder_.chosen(layer)) {
      edges_.push_back(
          {.target = target, .layer = layer, .list = static_cast<std::uint32_t>(bytes_.size())});
      bytes_.resize(bytes_.size() + layout::HnswPlace::kBytes * hnsw_.shape().degree(layer));
    }
  }
}

Status BackEdges::plan(const Newcomer& newcomer, Ticks deadline) {
  self_ = newcomer.self;
  std::array<BackEdge*, kListsAtOnce> some;
  std::size_t size = 0;
  for (BackEdge& edge : edges_) {
    if (!edge.planned) some[size++] = &edge;
    if (size < kListsAtOnce && &edge != &edges_.back()) continue;
    if (Status status = plan_some({some.data(), size}, newcomer, deadline); !status.ok()) {
      return status;
    }
    size = 0;
  }
  if (newcomer.needs_edge && !leads_back()) take_in_nearest();
  return {};
}

/// Without an edge that leads to it no search would find the vertex.
void BackEdges::take_in_nearest() {
  const auto nearest = std::ranges::find_if(edges_, [](const BackEdge& edge) {
    return edge.layer == 0 && edge.farthest != BackEdge::kRefused;
  });
  if (nearest != edges_.end()) nearest->index = nearest->farthest;
}

void BackEdges::want_pages(PinnedPages& pins) const {
  for (const BackEdge& edge : edges_) pins.want(layout::HnswPlace::of(edge.target.handle).page);
}

Status BackEdges::plan_some(std::span<BackEdge* const> some, const Newcomer& newcomer,
                            Ticks deadline) {
  if (Status status = read_lists(some, deadline); !status.ok()) return status;
  handles_.clear();
  for (const BackEdge* edge : some) {
    if (!edge->full) continue;
    const auto places = list(*edge);
    for (std::size_t at = 0; at < places.size(); at += layout::HnswPlace::kBytes) {
      const graph::Handle handle = layout::load_place(&places[at]).handle();
      if (finder_.vectors().find(handle) == nullptr) handles_.push_back(handle);
    }
  }
  members_.clear();
  const Status status = members_.gather(handles_, deadline, finder_.counts().selection);
  if (!status.ok()) return status;
  for (BackEdge* edge : some) {
    if (edge->full) choose(*edge, newcomer);
    edge->planned = true;
  }
  return {};
}

/// Reads the lists. A list with room takes the new vertex in a free place, and one that names the
/// vertex already needs none; an edge whose target is gone is refused.
Status BackEdges::read_lists(std::span<BackEdge* const> some, Ticks deadline) {
  handles_.clear();
  for (BackEdge* edge : some) {
    handles_.push_back(edge->target.handle);
    edge->index = BackEdge::kRefused;
    edge->farthest = BackEdge::kRefused;
    edge->full = false;
    edge->named = false;
  }
  const layout::HnswShape& shape = hnsw_.shape();
  const auto look = [&](std::uint32_t i, const layout::HnswVertex& vertex) -> Status {
    BackEdge& edge = *some[i];
    if (vertex.id() != edge.target.id || vertex.level() < edge.layer) return {};
    const auto places = vertex.places(shape, edge.layer);
    std::memcpy(&bytes_[edge.list], places.data(), places.size());
    edge.planned = true;
    for (std::uint32_t p = 0; p < shape.degree(edge.layer); ++p) {
      const auto place = vertex.neighbor(shape, edge.layer, p);
      if (place.empty()) edge.index = p;
      edge.named = !place.empty() && place.handle() == self_;
      if (place.empty() || edge.named) return {};
    }
    edge.full = true;
    return {};
  };
  return finder_.reader().read(handles_, deadline, finder_.counts().selection, look);
}

const GatheredVectors::Entry* BackEdges::member(graph::Handle handle, const std::byte** row) const {
  for (const GatheredVectors* vectors : {&finder_.vectors(), &members_}) {
    const auto* entry = vectors->find(handle);
    if (entry == nullptr) continue;
    *row = vectors->vector(*entry);
    return entry;
  }
  return nullptr;
}

/// Selects from the members of the list and the new vertex, which gets the place of the member that
/// is left out. A member that is marked, or gone, loses its place first.
void BackEdges::choose(BackEdge& edge, const Newcomer& newcomer) {
  const std::byte* target = nullptr;
  if (member(edge.target.handle, &target) == nullptr) return;
  const std::uint32_t degree = hnsw_.shape().degree(edge.layer);
  const NodeId salt = graph::tie_salt(edge.target.id);
  sorted_.clear();
  sorted_.push_back({{edge.target.distance, newcomer.id ^ salt, kNewcomer}, newcomer.vector});
  for (std::uint32_t i = 0; i < degree; ++i) {
    const auto place = member_place(edge, i);
    const std::byte* row = nullptr;
    const auto* entry = member(place.handle(), &row);
    if (entry == nullptr || entry->marked) {
      edge.index = i;
      return;
    }
    sorted_.push_back({{hnsw_.distance(target, row), entry->id ^ salt, i}, row});
  }
  std::sort(sorted_.begin(), sorted_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  pool_.clear();
  rows_.clear();
  for (const auto& [candidate, row] : sorted_) {
    pool_.push_back(candidate);
    rows_.push_back(row);
  }
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    ++finder_.counts().selected_between;
    return hnsw_.distance(rows_[a], rows_[b]);
  };
  if (newcomer.needs_edge) edge.farthest = farthest_of(edge, newcomer.lost);
  graph::select_neighbors(pool_, {degree, hnsw_.distance(target, target)}, between, selection_);
  std::sort(selection_.chosen.begin(), selection_.chosen.end());
  std::uint32_t out = 0;
  while (out < degree && selection_.chosen[out] == out) ++out;
  if (pool_[out].handle == kNewcomer) return;
  const auto index = static_cast<std::uint32_t>(pool_[out].handle);
  if (may_give_up(edge, index, newcomer.lost)) edge.index = index;
}

/// Returns the place, in the edge's list, of the farthest member in the pool that may be given up.
std::uint32_t BackEdges::farthest_of(const BackEdge& edge, const LostVertices* lost) const {
  for (auto at = pool_.rbegin(); at != pool_.rend(); ++at) {
    const auto index = static_cast<std::uint32_t>(at->handle);
    if (at->handle != kNewcomer && may_give_up(edge, index, lost)) return index;
  }
  return BackEdge::kRefused;
}

bool BackEdges::may_give_up(const BackEdge& edge, std::uint32_t index,
                            const LostVertices* lost) const {
  return lost == nullptr || edge.layer > 0 || lost->is_named_twice(member_place(edge, index));
}

std::uint32_t BackEdges::look_again(const PageEditor& editor, const PinnedPages& pins,
                                    bool give_up) {
  const layout::HnswShape& shape = hnsw_.shape();
  std::uint32_t changed = 0;
  for (BackEdge& edge : edges_) {
    if (edge.index == BackEdge::kRefused) continue;
    if (!is_alive(shape, editor, pins, edge.target, edge.layer)) {
      edge.index = BackEdge::kRefused;
      continue;
    }
    const auto place = layout::HnswPlace::of(edge.target.handle);
    const auto vertex =
        layout::HnswVertex::parse(shape, editor.bytes(pins.index(place.page)), place.slot);
    const auto now = vertex.value().places(shape, edge.layer);
    if (std::equal(now.begin(), now.end(), list(edge).begin())) continue;
    if (still_takes(edge, vertex.value(), give_up)) continue;
    edge.planned = false;
    edge.index = give_up ? BackEdge::kRefused : edge.index;
    ++changed;
  }
  return changed;
}

/// Returns whether a list that has changed can take the vertex without another selection, and sets
/// the place. A list that names the vertex by now needs it no more.
bool BackEdges::still_takes(BackEdge& edge, const layout::HnswVertex& vertex, bool give_up) const {
  const layout::HnswShape& shape = hnsw_.shape();
  std::uint32_t unused = BackEdge::kRefused;
  for (std::uint32_t p = 0; p < shape.degree(edge.layer); ++p) {
    const auto place = vertex.neighbor(shape, edge.layer, p);
    if (place.empty() && unused == BackEdge::kRefused) unused = p;
    if (place.empty() || place.handle() != self_) continue;
    edge.index = BackEdge::kRefused;
    edge.named = true;
    return true;
  }
  if (unused != BackEdge::kRefused) {
    edge.index = unused;
    return true;
  }
  if (!give_up || !edge.full) return false;
  return vertex.neighbor(shape, edge.layer, edge.index) == member_place(edge, edge.index);
}

bool BackEdges::leads_back() const {
  return std::ranges::any_of(edges_, [](const BackEdge& edge) {
    return edge.layer == 0 && (edge.named || edge.index != BackEdge::kRefused);
  });
}

bool BackEdges::is_named() const {
  return std::ranges::any_of(edges_,
                             [](const BackEdge& edge) { return edge.layer == 0 && edge.named; });
}

Status BackEdges::link(PageEditor& editor, const PinnedPages& pins, layout::HnswPlace place,
                       std::uint32_t& made) const {
  const layout::HnswShape& shape = hnsw_.shape();
  for (const BackEdge& edge : edges_) {
    if (edge.index == BackEdge::kRefused) continue;
    const auto at = layout::HnswPlace::of(edge.target.handle);
    const std::size_t page = pins.index(at.page);
    const auto target = layout::HnswVertex::parse(shape, editor.bytes(page), at.slot);
    if (!target.ok()) return target.status();
    const PinnedVertex neighbors{page, target.value().neighbors_slot()};
    const std::uint32_t offset = shape.place_offset(edge.layer, edge.index);
    if (Status s = patch_places(editor, neighbors, offset, {&place, 1}); !s.ok()) return s;
    ++made;
  }
  return {};
}

}  // namespace farvec::paged
