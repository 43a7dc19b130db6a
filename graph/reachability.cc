#include "graph/reachability.h"

#include <algorithm>
#include <array>
#include <utility>

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

/// Gives edges to vertices that cannot be reached. Where many rows are near to no other, as short
/// ones are by products, all of these have the same few vertices for neighbours. Searches need the
/// edges of those few, so each vertex gives up no more than a part of its own.
class EdgeGiver {
 public:
  EdgeGiver(Graph& graph, const Tree& tree, std::uint32_t degree)
      : graph_(graph),
        tree_(tree),
        degree_(degree),
        most_given_(std::max(degree / kGivesOneIn, 1u)),
        given_(graph.count(), 0) {}

  /// Says whether `from` has room for an edge, or has given up fewer than it may.
  bool may_give(NodeId from) const {
    return graph_.neighbors(from).size() < degree_ || given_[from] < most_given_;
  }

  /// Adds the edge from -> to if there is room, or in place of an edge outside the tree.
  bool add(NodeId from, NodeId to) {
    const auto row = graph_.neighbors(from);
    if (row.size() < degree_) {
      graph_.append_neighbor(from, to);
      return true;
    }
    std::vector<NodeId> edges(row.begin(), row.end());
    // Edges were kept nearest first, so the last one is the least missed.
    for (std::size_t i = edges.size(); i-- > 0;) {
      if (tree_.parent(edges[i]) == from) continue;
      edges[i] = to;
      graph_.set_neighbors(from, edges);
      ++given_[from];
      return true;
    }
    return false;
  }

 private:
  /// The share of its edges that a vertex may give up.
  static constexpr std::uint32_t kGivesOneIn = 8;

  Graph& graph_;
  const Tree& tree_;
  const std::uint32_t degree_;
  const std::uint32_t most_given_;
  std::vector<std::uint16_t> given_;  ///< up to the degree, which is at most 1024
};

void sort_by_distance(const BuildSpace& space, NodeId v, std::vector<NodeId>& ids) {
  std::sort(ids.begin(), ids.end(), [&](NodeId a, NodeId b) {
    const float da = space.distance(v, a);
    const float db = space.distance(v, b);
    return da != db ? da < db : a < b;
  });
}

/// Finds the vertices from which an edge to a vertex is tried.
class Surroundings {
 public:
  explicit Surroundings(const Graph& graph)
      : graph_(graph), seen_for_(graph.count(), kInvalidNode) {}

  /// Returns v's own neighbours that the tree contains and that may give an edge, and such ones
  /// among what they lead to; nearest first. Empty for a `v` in a large island.
  std::vector<NodeId> of(NodeId v, const Tree& tree, const EdgeGiver& giver,
                         const BuildSpace& space) {
    constexpr std::size_t kEnough = 64;
    constexpr std::size_t kMostSeen = 2048;
    seen_.assign(1, v);
    seen_for_[v] = v;
    std::vector<NodeId> found;
    for (std::size_t i = 0; i < seen_.size() && seen_.size() < kMostSeen && found.size() < kEnough;
         ++i) {
      for (const NodeId next : graph_.neighbors(seen_[i])) {
        if (std::exchange(seen_for_[next], v) == v) continue;
        seen_.push_back(next);
        if (tree.contains(next) && giver.may_give(next)) found.push_back(next);
      }
    }
    sort_by_distance(space, v, found);
    return found;
  }

 private:
  const Graph& graph_;
  std::vector<NodeId> seen_;
  std::vector<NodeId> seen_for_;  ///< the last vertex that was asked for and came upon this one
};

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

/// Gives a vertex that cannot be reached an edge that leads to it.
class Attacher {
 public:
  Attacher(Graph& graph, Tree& tree, const BuildSpace& space, std::uint32_t degree)
      : graph_(graph), tree_(tree), space_(space), giver_(graph, tree, degree), around_(graph) {}

  void attach(NodeId v) {
    if (from_any_of(around_.of(v, tree_, giver_, space_), v)) return;
    if (from_any_of(vertices_on_the_way(graph_, space_, v), v)) return;
    // A tree over m vertices uses m - 1 edges, so some vertex has an edge to spare.
    bool attached = false;
    for (std::uint64_t from = 0; !attached && from < graph_.count(); ++from) {
      attached = from_any_of(std::array{static_cast<NodeId>(from)}, v);
    }
    FARVEC_CHECK(attached, "vertex {} cannot be attached", v);
  }

 private:
  template <typename Froms>
  bool from_any_of(const Froms& froms, NodeId v) {
    for (const NodeId from : froms) {
      if (!tree_.contains(from) || !giver_.add(from, v)) continue;
      tree_.grow(v, from);
      return true;
    }
    return false;
  }

  Graph& graph_;
  Tree& tree_;
  const BuildSpace& space_;
  EdgeGiver giver_;
  Surroundings around_;
};

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
  Attacher attacher(graph, tree, space, degree);
  std::uint64_t added = 0;
  for (NodeId v = 0; v < vertices; ++v) {
    if (tree.contains(v)) continue;
    attacher.attach(v);
    ++added;
  }
  return added;
}

}  // namespace farvec::graph
