// Inserts batches of points into a growing HNSW graph, deterministically.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "distance/distance.h"
#include "graph/hnsw/hnsw_builder.h"
#include "graph/hnsw/hnsw_graph.h"
#include "graph/hnsw/layer_search.h"
#include "graph/hnsw/select_neighbors.h"

namespace farvec::graph {

class HnswBatchInserter {
 public:
  /// All arguments must outlive it; the graph has its entry.
  HnswBatchInserter(VectorView data, Metric metric, const HnswOptions& options, HnswGraph& graph);

  /// Searches the graph as it is for every point of the batch, gives each point its neighbours,
  /// then adds the back edges. Except for the entry, no point of the batch is in the graph yet.
  void insert(std::span<const NodeId> batch);

  /// Prunes every vertex to the degrees that pages have room for.
  void prune_to_degree();

  /// Returns the number of distances computed so far.
  std::uint64_t distances() const;

 private:
  struct Worker {
    LayerScratch search;
    Selection selection;
    std::vector<Candidate> pool;
    std::vector<NodeId> ids;
    std::vector<float> scores;
    std::uint64_t distances = 0;
  };
  class Source;

  std::uint32_t degree(std::uint32_t layer) const { return hnsw_degree(options_.levels.m, layer); }
  void insert_point(NodeId point, Worker& worker);
  void link_back(std::span<const NodeId> batch, std::uint32_t layer);
  void collect_back_edges(std::span<const NodeId> batch, std::uint32_t layer);
  void add_back_edges(std::span<const std::uint64_t> edges, std::uint32_t layer, Worker& worker);
  void prune_vertex(NodeId v, std::uint32_t layer, Worker& worker);
  void choose(NodeId v, std::uint32_t layer, std::span<const Candidate> pool, Worker& worker);

  const VectorView data_;
  const HnswOptions options_;
  const unsigned threads_;
  const distance::PairKernel pair_;
  const distance::ManyKernel many_;
  HnswGraph& graph_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint64_t> edges_;  ///< (target << 32 | source), sorted
  std::vector<std::size_t> groups_;   ///< where each target's run begins in edges_
};

}  // namespace farvec::graph
