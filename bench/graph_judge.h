// Recall and counts of searches of graphs in memory, by exact distances.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "dataset/recall.h"
#include "dataset/vector_set.h"
#include "distance/distance.h"
#include "graph/beam_search.h"
#include "graph/graph.h"
#include "graph/vamana_builder.h"
#include "indexing/source.h"

namespace farvec {

inline constexpr std::uint32_t kJudgedK = 10;

/// A graph over rows in memory as a source of records.
struct RecordsInMemory {
  const graph::Graph& graph;
  const VectorView& rows;

  void expect(NodeId id) const { prefetch_line(rows.row(id)); }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    for (const NodeId id : frontier) {
      const auto row = graph.neighbors(id);
      visit(id, NodeRecord{rows.row(id), reinterpret_cast<const std::byte*>(row.data()),
                           static_cast<std::uint32_t>(row.size())});
    }
    return {};
  }
};

struct ExactScorer {
  const VectorView& rows;
  const std::byte* query;
  distance::PairKernel pair;
  distance::ManyKernel many;

  void prefetch(NodeId id) const { prefetch_line(rows.row(id)); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    many(query, rows, {ids, count}, out);
  }
  float exact(NodeId, const NodeRecord& record) const {
    return pair(query, record.vector, rows.dimension);
  }
};

inline dataset::GroundTruth exact_neighbors(const VectorView& rows, const VectorView& queries,
                                            Metric metric) {
  dataset::GroundTruth truth{queries.count, kJudgedK, std::vector<NodeId>(queries.count * kJudgedK),
                             std::vector<float>(queries.count * kJudgedK)};
  const auto pair = distance::pair_kernel(metric, rows.type, rows.dimension);
  parallel_for(queries.count, 1, resolve_threads(0), [&](std::size_t q, std::size_t, unsigned) {
    std::vector<std::pair<float, NodeId>> all(rows.count);
    for (NodeId id = 0; id < rows.count; ++id) {
      all[id] = {pair(queries.row(q), rows.row(id), rows.dimension), id};
    }
    std::partial_sort(all.begin(), all.begin() + kJudgedK, all.end());
    for (std::uint32_t i = 0; i < kJudgedK; ++i) {
      truth.distances[q * kJudgedK + i] = all[i].first;
      truth.ids[q * kJudgedK + i] = all[i].second;
    }
  });
  return truth;
}

/// Searches graphs over changing rows for the same queries.
class Judge {
 public:
  Judge(const std::string& queries, Metric metric, std::vector<std::uint32_t> lists)
      : metric_(metric),
        lists_(std::move(lists)),
        queries_(indexing::stored_rows(dataset::load(queries), metric, 1)) {}

  static void print_header() {
    fmt::print("{:12} {:>8} {:>7} {:>8} {:>7} {:>8} {:>5} {:>8} {:>8} {:>9}\n", "graph", "rows",
               "degree", "seconds", "million", "attached", "list", "recall", "reads", "scored");
  }

  void set_rows(const VectorView& rows) {
    rows_ = rows;
    truth_ = exact_neighbors(rows, queries_.view(), metric_);
  }
  void print(const std::string& name, const graph::Graph& graph, const graph::VamanaStats& stats) {
    for (const std::uint32_t list : lists_) {
      std::vector<NodeId> ids(queries_.count() * kJudgedK, kInvalidNode);
      std::vector<float> distances(ids.size());
      std::uint64_t reads = 0, scored = 0;
      for (std::size_t q = 0; q < queries_.count(); ++q) {
        search(graph, q, list);
        reads += scratch_.counts.distances;
        scored += scratch_.counts.estimates;
        for (std::uint32_t i = 0; i < scratch_.results.size(); ++i) {
          ids[q * kJudgedK + i] = scratch_.results[i].id;
          distances[q * kJudgedK + i] = scratch_.results[i].distance;
        }
      }
      const double recall = dataset::recall_at_k(
          {ids.data(), distances.data(), queries_.count(), kJudgedK}, truth_, kJudgedK);
      const auto count = static_cast<double>(queries_.count());
      fmt::print("{:12} {:8} {:7.2f} {:8.0f} {:7.1f} {:8} {:5} {:8.5f} {:8.2f} {:9.1f}\n", name,
                 graph.count(), average_degree(graph), stats.seconds,
                 static_cast<double>(stats.distances) / 1e6, stats.repaired, list, recall,
                 static_cast<double>(reads) / count, static_cast<double>(scored) / count);
    }
    std::fflush(stdout);
  }

 private:
  void search(const graph::Graph& graph, std::size_t q, std::uint32_t list) {
    graph::BeamParameters parameters;
    parameters.k = kJudgedK;
    parameters.list = list;
    parameters.max_degree = graph.row_capacity();
    parameters.node_count = static_cast<std::uint32_t>(graph.count());
    RecordsInMemory source{graph, rows_};
    const ExactScorer scorer{rows_, queries_.view().row(q),
                             distance::pair_kernel(metric_, rows_.type, rows_.dimension),
                             distance::many_kernel(metric_, rows_.type, rows_.dimension)};
    const NodeId entry = graph.entry;
    const Status status = graph::beam_search(source, scorer, {&entry, 1}, parameters, scratch_);
    if (!status.ok()) throw Error("search of a graph in memory: {}", status.message());
  }
  static double average_degree(const graph::Graph& graph) {
    std::uint64_t edges = 0;
    for (std::size_t v = 0; v < graph.count(); ++v) edges += graph.neighbors(v).size();
    return static_cast<double>(edges) / static_cast<double>(graph.count());
  }

  const Metric metric_;
  const std::vector<std::uint32_t> lists_;
  const dataset::VectorSet queries_;
  VectorView rows_;
  dataset::GroundTruth truth_;
  graph::BeamScratch scratch_;
};

}  // namespace farvec
