// build_hnsw() builds in local memory the HNSW graph that is laid out on pages.
#pragma once

#include <cstdint>
#include <span>

#include "base/progress.h"
#include "base/types.h"
#include "graph/hnsw/hnsw_graph.h"
#include "graph/hnsw/levels.h"

namespace farvec::graph {

inline constexpr std::uint32_t kMinHnswM = 2;
inline constexpr std::uint32_t kMaxHnswM = 128;
inline constexpr std::uint32_t kMaxEfConstruction = 10'000;

struct HnswOptions {
  LevelRule levels;  ///< also has m: neighbours on each layer, twice as many at layer 0
  std::uint32_t ef_construction = 200;
  unsigned threads = 0;  ///< 0: all processors
  bool quiet = false;    ///< no progress line
  Interruption interrupted = {};
};

struct HnswStats {
  double seconds = 0;
  std::uint64_t distances = 0;
  std::uint64_t repaired = 0;  ///< vertices that had to be given an in-edge to be reachable
};

/// Throws Error for parameters that make no sense.
void check_hnsw_options(const HnswOptions& options);

/// Returns the most neighbours that a vertex has on a layer.
constexpr std::uint32_t hnsw_degree(std::uint32_t m, std::uint32_t layer) {
  return layer == 0 ? 2 * m : m;
}

/// Builds the graph over all rows of `data` (stored type; must outlive the call; fewer than
/// kMaxNodes). ids[row] is what level_of() takes; without ids it is the row. The graph is the same
/// for the same data, ids and options whatever the number of threads: points are inserted in
/// batches that search a frozen graph, and back edges are applied grouped by target, as
/// build_vamana() does. Points are inserted in a shuffled order, after a point of the highest
/// level. At layer 0 every vertex is reachable from the entry. Distances are the metric's own.
/// Memory beside the data: count * 2.6 * m * 4 bytes at layer 0, 1 / (2m - 2) of that above, and
/// what a batch needs.
HnswGraph build_hnsw(VectorView data, Metric metric, std::span<const NodeId> ids,
                     const HnswOptions& options, HnswStats* stats = nullptr);

}  // namespace farvec::graph
