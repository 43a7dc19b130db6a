// HNSW graphs in local memory, searched as a source, and what a naive search says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "distance/distance.h"
#include "graph/hnsw/hnsw_builder.h"
#include "graph/hnsw/layer_search.h"

namespace farvec::graph::testing {

/// A graph in memory as a LayerSource; handles are rows. `marked` may be empty.
struct HnswSource {
  const HnswGraph& graph;
  VectorView data;
  const void* query = nullptr;
  distance::PairKernel kernel = nullptr;
  std::vector<bool> marked = {};
  std::uint64_t scored = 0;
  std::uint64_t calls = 0;
  bool backwards = false;  ///< visits in the opposite order

  Status neighbors(Handle vertex, std::uint32_t layer, std::vector<Handle>& out) const {
    const auto row = graph.neighbors(static_cast<NodeId>(vertex), layer);
    out.assign(row.begin(), row.end());
    return {};
  }
  template <typename Visit>
  Status score(std::uint32_t, std::span<const Handle> handles, Visit&& visit) {
    ++calls;
    for (std::size_t i = 0; i < handles.size(); ++i) {
      const auto v = static_cast<NodeId>(handles[backwards ? handles.size() - 1 - i : i]);
      visit(
          Scored{{kernel(query, data.row(v), data.dimension), v, v}, !marked.empty() && marked[v]});
      ++scored;
    }
    return {};
  }
};

/// The search of all layers.
inline std::vector<Candidate> search_hnsw(HnswSource& source, std::size_t list) {
  LayerScratch scratch;
  if (source.graph.count() == 0) return {};
  const std::uint32_t top = source.graph.top();
  EXPECT_TRUE(enter(source, top, source.graph.entry(), scratch).ok());
  EXPECT_TRUE(descend(source, top, 0, scratch).ok());
  EXPECT_TRUE(layer_search(source, {0, list}, scratch).ok());
  return {scratch.found().begin(), scratch.found().end()};
}

inline std::vector<Candidate> nearest_rows(VectorView data, Metric metric, const void* query,
                                           std::size_t k) {
  const auto kernel = distance::pair_kernel(metric, data.type, data.dimension);
  std::vector<Candidate> all;
  for (NodeId v = 0; v < data.count; ++v) {
    all.push_back({kernel(query, data.row(v), data.dimension), v, v});
  }
  k = std::min(k, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<long>(k), all.end());
  all.resize(k);
  return all;
}

/// Share of the k nearest, ties counted.
inline double hnsw_recall(const HnswGraph& graph, VectorView data, Metric metric,
                          VectorView queries, std::size_t list) {
  constexpr std::size_t k = 10;
  double hits = 0;
  HnswSource source{graph, data, nullptr, distance::pair_kernel(metric, data.type, data.dimension)};
  for (std::size_t q = 0; q < queries.count; ++q) {
    const auto truth = nearest_rows(data, metric, queries.row(q), k);
    source.query = queries.row(q);
    const auto found = search_hnsw(source, list);
    for (std::size_t i = 0; i < std::min(k, found.size()); ++i) {
      hits += found[i].distance <= truth.back().distance ? 1 : 0;
    }
  }
  return hits / static_cast<double>(k * queries.count);
}

inline HnswOptions quiet_hnsw(std::uint32_t m = 8, std::uint32_t ef_construction = 64) {
  HnswOptions options;
  options.levels.m = m;
  options.ef_construction = ef_construction;
  options.threads = 2;
  options.quiet = true;
  return options;
}

}  // namespace farvec::graph::testing
