// A VamanaGrowth is a Vamana graph while it grows: what building a graph and merging into one have
// in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "graph/batch_insert.h"
#include "graph/build_space.h"
#include "graph/graph.h"
#include "graph/vamana_builder.h"

namespace farvec::graph {

class VamanaGrowth {
 public:
  /// A graph without edges over `rows` (stored type; at least one; they outlive this object).
  /// Throws Error for options that make no sense.
  VamanaGrowth(VectorView rows, Metric metric, const VamanaOptions& options);
  VamanaGrowth(const VamanaGrowth&) = delete;
  VamanaGrowth& operator=(const VamanaGrowth&) = delete;

  /// Returns the graph, whose rows may have more than options.degree edges until finish().
  Graph& graph() { return graph_; }
  const BuildSpace& space() const { return space_; }
  const VamanaOptions& options() const { return options_; }
  Metric metric() const { return metric_; }
  unsigned threads() const { return threads_; }
  NodeId medoid() const { return medoid_; }

  /// Inserts the vertices from `first` on, in an order given by options.seed, options.passes times.
  /// The vertices before `first` are already in the graph. Searches start at graph().entry.
  void insert_from(std::size_t first);

  /// Makes the medoid the entry, adds edges for options.sample_queries, and makes every vertex
  /// reachable from the entry, all within options.degree edges.
  Graph finish(VamanaStats& stats);

 private:
  const std::chrono::steady_clock::time_point start_;
  const Metric metric_;
  const VamanaOptions options_;
  const unsigned threads_;
  const BuildSpace space_;
  const NodeId medoid_;
  Graph graph_;
  BatchInserter inserter_;
};

/// Throws Error for more rows than a graph has, and for options that make no sense.
void check_vamana(const VectorView& rows, const VamanaOptions& options);

}  // namespace farvec::graph
