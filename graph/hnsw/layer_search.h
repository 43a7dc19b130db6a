// layer_search() searches one layer of an HNSW graph, over any source of its vertices.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "graph/hnsw/layer_scratch.h"

namespace farvec::graph {

struct Scored {
  Candidate candidate;
  bool marked = false;  ///< deleted: passed through, never returned
};

/// A LayerSource is where the vertices of an HNSW graph come from: local memory, pages.
///
/// neighbors(vertex, layer, out) overwrites `out` with the neighbours of a vertex in a layer.
/// score(layer, handles, visit) calls visit(scored) for each of the vertices, in any order, and
/// leaves out those that no longer exist; it gets all of them at once and decides how they are
/// read. Either may suspend, and may fail: then the search ends with that status.
template <typename Source>
concept LayerSource = requires(Source source, Handle vertex, std::uint32_t layer,
                               std::vector<Handle>& out, std::span<const Handle> handles,
                               void (*visit)(const Scored&)) {
  { source.neighbors(vertex, layer, out) } -> std::same_as<Status>;
  { source.score(layer, handles, visit) } -> std::same_as<Status>;
};

/// Begins a search at the entry of the graph: scratch.found() or scratch.passed() is the entry.
template <LayerSource Source>
Status enter(Source& source, std::uint32_t layer, Handle entry, LayerScratch& scratch) {
  scratch.clear();
  scratch.begin_layer(1);
  const auto visit = [&](const Scored& s) { scratch.add(s.candidate, s.marked); };
  return source.score(layer, {&entry, 1}, visit);
}

/// A LayerGoal is what a search of a layer has to find.
struct LayerGoal {
  std::uint32_t layer = 0;
  std::size_t list = 1;   ///< vertices to find, where the layer has this many
  std::size_t least = 0;  ///< the least that is found, however many marked ones it meets
};

/// Returns the `list` vertices of a layer that are nearest, found from what the layer above has
/// found (Malkov and Yashunin, algorithm 2). One call of score() per vertex that is expanded. The
/// result depends on the distances alone, not on the order in which a source visits. It ends early
/// among too many marked vertices (kMarkedPerPlace, scratch.cut_short()), but not before it has
/// found `least` vertices, where there are that many.
template <LayerSource Source>
Status layer_search(Source& source, const LayerGoal& goal, LayerScratch& scratch) {
  const std::uint32_t layer = goal.layer;
  scratch.begin_layer(goal.list, goal.least);
  const auto visit = [&](const Scored& s) { scratch.add(s.candidate, s.marked); };
  Candidate nearest;
  Status status;
  while (status.ok() && scratch.take(nearest)) {
    status = source.neighbors(nearest.handle, layer, scratch.neighbors);
    std::erase_if(scratch.neighbors, [&](Handle handle) { return !scratch.visit(handle); });
    if (status.ok() && !scratch.neighbors.empty()) {
      status = source.score(layer, scratch.neighbors, visit);
    }
  }
  scratch.end_layer();
  return status;
}

/// Goes from the entry, on layer `from`, to the nearest vertex of layer `to` + 1: a search of layer
/// `to` begins with it.
template <LayerSource Source>
Status descend(Source& source, std::uint32_t from, std::uint32_t to, LayerScratch& scratch) {
  for (std::uint32_t layer = from; layer > to; --layer) {
    if (Status status = layer_search(source, {layer, 1}, scratch); !status.ok()) return status;
  }
  return {};
}

}  // namespace farvec::graph
