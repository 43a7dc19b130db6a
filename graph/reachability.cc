#include "graph/reachability.h"

#include <algorithm>
#include <array>

namespace farvec::graph {
namespace {

/// The breadth-first tree from the entry, grown as edges are added.
class Tree {
 public:
  explicit Tree(const Graph& graph) : graph_(graph), parent_(graph.count(), kInvalidNode) {
    if (graph.count() > 0) grow(graph.entry, graph.entry);
  }

  bool contains(NodeId v) const { return parent_[v] != kInvalidNode; }
  NodeId parent(NodeId v) const { return parent_[v]; }

  /// Adds `v` under `parent`, and all that can be reached from it.
  void grow(NodeId v, NodeId parent) {
    parent_[v] = parent;
    queue_.assign(1, v);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      for (NodeId next : graph_.neighbors(queue_[i])) {
        if (contains(next)) continue;
        parent_[next] = queue_[i];
        queue_.push_back(next);
      }
    }
  }

 private:
  const Graph& graph_;
  std::vector<NodeId> parent_;
  std::vector<NodeId> queue_;
};

/// Adds the edge from -> to if there is room, or in place of an edge outside the tree.
bool add_edge(Graph& graph, const Tree& tree, NodeId from, NodeId to, std::uint32_t degree) {
  const auto row = graph.neighbors(from);
  if (row.size() < degree) {
    graph.append_neighbor(from, to);
    return true;
  }
  std::vector<NodeId> edges(row.begin(), row.end());
  // Edges were kept nearest first, so the last one is the least missed.
  for (std::size_t i = edges.size(); i-- > 0;) {
    if (tree.parent(edges[i]) == from) continue;
    edges[i] = to;
    graph.set_neighbors(from, edges);
    return true;
  }
  return false;
}

void sort_by_distance(const BuildSpace& space, NodeId v, std::vector<NodeId>& ids) {
  std::sort(ids.begin(), ids.end(), [&](NodeId a, NodeId b) {
    const float da = space.distance(v, a);
    const float db = space.distance(v, b);
    return da != db ? da < db : a < b;
  });
}

/// The vertices from which an edge to `v` is tried: v's own neighbours that the tree contains,
/// nearest first, then what they lead to. Empty for a `v` in a large island.
std::vector<NodeId> nearby_tree_vertices(const Graph& graph, const Tree& tree,
                                         const BuildSpace& space, NodeId v) {
  constexpr std::size_t kEnough = 64;
  constexpr std::size_t kMostSeen = 2048;
  std::vector<NodeId> seen(1, v);
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < seen.size() && seen.size() < kMostSeen && found.size() < kEnough;
       ++i) {
    for (NodeId next : graph.neighbors(seen[i])) {
      if (std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
      seen.push_back(next);
      if (tree.contains(next)) found.push_back(next);
    }
  }
  sort_by_distance(space, v, found);
  return found;
}

/// The vertices that a walk from the entry passes when it always goes on to the neighbour nearest
/// to `v`; nearest first.
std::vector<NodeId> vertices_on_the_way(const Graph& graph, const BuildSpace& space, NodeId v) {
  std::vector<NodeId> way(1, graph.entry);
  for (bool nearer = true; nearer;) {
    NodeId best = way.back();
    for (const NodeId next : graph.neighbors(way.back())) {
      if (space.distance(v, next) < space.distance(v, best)) best = next;
    }
    nearer = best != way.back();
    if (nearer) way.push_back(best);
  }
  std::reverse(way.begin(), way.end());
  return way;
}

void attach(Graph& graph, Tree& tree, const BuildSpace& space, NodeId v, std::uint32_t degree) {
  const auto from_any_of = [&](const auto& froms) {
    for (const NodeId from : froms) {
      if (!tree.contains(from) || !add_edge(graph, tree, from, v, degree)) continue;
      tree.grow(v, from);
      return true;
    }
    return false;
  };
  if (from_any_of(nearby_tree_vertices(graph, tree, space, v))) return;
  if (from_any_of(vertices_on_the_way(graph, space, v))) return;
  // A tree over m vertices uses m - 1 edges, so some vertex has an edge to spare.
  bool attached = false;
  for (std::uint64_t from = 0; !attached && from < graph.count(); ++from) {
    attached = from_any_of(std::array{static_cast<NodeId>(from)});
  }
  FARVEC_CHECK(attached, "vertex {} cannot be attached", v);
}

}  // namespace

std::vector<bool> reachable_vertices(const Graph& graph) {
  const Tree tree(graph);
  std::vector<bool> reachable(graph.count());
  for (NodeId v = 0; v < graph.count(); ++v) reachable[v] = tree.contains(v);
  return reachable;
}

std::uint64_t make_reachable(Graph& graph, const BuildSpace& space, std::uint32_t degree,
                             std::size_t vertices) {
  Tree tree(graph);
  std::uint64_t added = 0;
  for (NodeId v = 0; v < vertices; ++v) {
    if (tree.contains(v)) continue;
    attach(graph, tree, space, v, degree);
    ++added;
  }
  return added;
}

}  // namespace farvec::graph
