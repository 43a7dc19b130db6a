// build_vamana() builds the graph that every tier searches.
#pragma once

#include <cstdint>
#include <functional>

#include "base/progress.h"
#include "base/types.h"
#include "graph/affine_sets.h"
#include "graph/graph.h"

namespace farvec::graph {

struct VamanaOptions {
  std::uint32_t degree = 32;  ///< R: largest out-degree
  std::uint32_t list = 100;   ///< L of the searches during the build; >= 1
  float alpha = 1.2f;         ///< last value of the pruning ramp, on distances; >= 1
  std::uint32_t passes = 1;
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< 0: all processors
  bool quiet = false;    ///< no progress line
  AffinityOptions affinity = {};
  /// Examples of the queries to come, for queries that do not come from where the rows come from
  /// (stored type, of the rows' dimension; they outlive the build): see add_query_edges(). Without
  /// any, no edges are added for queries.
  VectorView sample_queries = {};
  /// Called from any of the build's threads, at least once per batch; true ends the build soon.
  Interruption interrupted = [] { return false; };
  /// Called from any of the build's threads when `vertices` more vertices have been repaired or
  /// inserted.
  std::function<void(std::uint64_t vertices)> advanced = [](std::uint64_t) {};
};

struct VamanaStats {
  double seconds = 0;
  std::uint64_t distances = 0;
  std::uint64_t repaired = 0;     ///< vertices that had to be given an in-edge to be reachable
  std::uint64_t query_edges = 0;  ///< edges added for sample_queries
  AffineSets affine;  ///< from the last pass, within the threshold distance; empty unless asked for
};

/// Builds the graph over all rows of `data` (stored type; must outlive the call; fewer than
/// kMaxNodes rows). The graph is the same for the same data, options and seed whatever the number
/// of threads: points are inserted in batches that search a frozen graph (Dobson et al., ParlayANN,
/// PPoPP 2024), and back edges are applied grouped by target. Every vertex is reachable from the
/// entry, which is the medoid. Memory beside the data: count * 1.3 * degree * 4 bytes, count *
/// affinity.limit * 4 bytes, and what one batch needs. Throws Error for options that make no sense,
/// and WorkInterrupted.
Graph build_vamana(VectorView data, Metric metric, const VamanaOptions& options,
                   VamanaStats* stats = nullptr);

}  // namespace farvec::graph
