// DeletionRepair keeps the vertices of a graph that stay when others go, and replaces the edges to
// the vertices that go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/row_set.h"
#include "graph/graph.h"
#include "graph/vamana_growth.h"

namespace farvec::graph {

/// An edge between vertices that stay is not weighed again. When the vertex at the end of an edge
/// goes, what that vertex leads to are candidates for the edge's place. A candidate takes it when
/// RobustPrune's rule lets it stand beside the edges that are there. The candidates are those of
/// Singh et al., FreshDiskANN, 2021, section 4, which prunes all edges again: measured to cost more
/// and to find no more.
class DeletionRepair {
 public:
  /// Numbers the vertices that are not out, in their order. Borrows both.
  DeletionRepair(const Graph& former, const RowSet& out);

  /// Returns the number of vertices that stay.
  std::size_t kept() const { return kept_.size(); }
  /// Returns the new number of a vertex; kInvalidNode when it is out.
  NodeId number(NodeId former) const { return numbers_[former]; }

  /// Gives the first kept() vertices of growth.graph() their edges, at most options.degree each.
  /// Returns how many distances it computed. Throws WorkInterrupted.
  std::uint64_t run(VamanaGrowth& growth) const;

 private:
  struct Worker;
  Hubs hubs_that_stay(std::uint32_t degree) const;
  std::span<const NodeId> choose_edges(std::size_t v, std::uint32_t degree, Worker& worker) const;
  void split_neighbors(NodeId former, Worker& worker) const;
  void look_behind(std::uint32_t degree, Worker& worker) const;

  const Graph& former_;
  std::vector<NodeId> numbers_;  ///< indexed by former number
  std::vector<NodeId> kept_;     ///< former numbers, ascending
};

}  // namespace farvec::graph
