#include "graph/hnsw/hnsw_builder.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/random.h"
#include "graph/build_space.h"
#include "graph/candidate_list.h"
#include "graph/hnsw/hnsw_batch.h"
#include "graph/reachability.h"

namespace farvec::graph {
namespace {

/// A vertex may hold this much more than its degree until it is pruned again.
constexpr double kHnswSlack = 1.3;
/// Batches double up to this share of the data: points of one batch do not see each other.
constexpr double kLargestHnswBatch = 0.02;

std::vector<std::uint8_t> all_levels(std::size_t count, std::span<const NodeId> ids,
                                     const LevelRule& rule) {
  std::vector<std::uint8_t> levels(count);
  for (std::size_t row = 0; row < count; ++row) {
    const NodeId id = ids.empty() ? static_cast<NodeId>(row) : ids[row];
    levels[row] = static_cast<std::uint8_t>(level_of(rule, id));
  }
  return levels;
}

/// A shuffled order, but the first vertex is one of the highest level.
std::vector<NodeId> insertion_order(const HnswGraph& graph, std::uint64_t seed) {
  std::vector<NodeId> order(graph.count());
  std::iota(order.begin(), order.end(), NodeId{0});
  Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  const auto highest = std::max_element(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    return graph.level(a) < graph.level(b);
  });
  if (highest != order.end()) std::iter_swap(order.begin(), highest);
  return order;
}

void insert_all(HnswBatchInserter& inserter, std::span<const NodeId> order,
                const HnswOptions& options) {
  const auto largest = std::max<std::size_t>(
      static_cast<std::size_t>(kLargestHnswBatch * static_cast<double>(order.size())), 1);
  Progress progress("graph", order.size(), options.quiet, options.interrupted);
  std::size_t size = 1;
  for (std::size_t begin = 0; begin < order.size(); begin += size) {
    if (begin > 0) size = std::min({std::max(size, begin), largest, order.size() - begin});
    inserter.insert(order.subspan(begin, size));
    progress.advance(size);
  }
}

}  // namespace

void check_hnsw_options(const HnswOptions& options) {
  const std::uint32_t m = options.levels.m;
  if (m < kMinHnswM || m > kMaxHnswM) {
    throw Error("m {} is out of range: use {} to {}", m, kMinHnswM, kMaxHnswM);
  }
  if (options.ef_construction < 2 * m || options.ef_construction > kMaxEfConstruction) {
    throw Error("ef_construction {} is out of range: use 2 m = {} to {}", options.ef_construction,
                2 * m, kMaxEfConstruction);
  }
  if (options.levels.max_level > kMaxLevel) {
    throw Error("level {} is out of range: the highest is {}", options.levels.max_level, kMaxLevel);
  }
}

HnswGraph build_hnsw(VectorView data, Metric metric, std::span<const NodeId> ids,
                     const HnswOptions& options, HnswStats* stats) {
  check_hnsw_options(options);
  require_node_count(data.count, "vectors");
  const auto start = std::chrono::steady_clock::now();
  const auto capacity = static_cast<std::uint32_t>(2 * options.levels.m * kHnswSlack) + 1;
  HnswGraph graph(all_levels(data.count, ids, options.levels), capacity);
  HnswStats result;
  if (data.count > 0) {
    const std::vector<NodeId> order = insertion_order(graph, options.levels.seed);
    graph.set_entry(order.front());
    HnswBatchInserter inserter(data, metric, options, graph);
    insert_all(inserter, order, options);
    inserter.prune_to_degree();
    const BuildSpace space(data, metric, resolve_threads(options.threads));
    result.repaired =
        make_reachable(graph.base(), space, hnsw_degree(options.levels.m, 0), graph.base().count());
    result.distances = inserter.distances();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (stats != nullptr) *stats = result;
  return graph;
}

}  // namespace farvec::graph
