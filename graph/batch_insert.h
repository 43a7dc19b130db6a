// Inserts batches of points into a growing Vamana graph, deterministically.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graph/beam_search.h"
#include "graph/build_space.h"
#include "graph/graph.h"
#include "graph/hubs.h"
#include "graph/robust_prune.h"
#include "graph/vamana_builder.h"

namespace farvec::graph {

class BatchInserter {
 public:
  /// Borrows the space and the graph.
  BatchInserter(const BuildSpace& space, const VamanaOptions& options, unsigned threads,
                Graph& graph);

  /// Finds the hubs of the graph as it is. Call it before the first batch of each pass.
  void begin_pass() { hubs_.recount(graph_); }

  /// Searches the graph as it is for every point of the batch, gives each point its pruned
  /// neighbours, then adds the back edges. A point that is already in the graph gets new
  /// neighbours. insert() and prune_to_degree() throw WorkInterrupted.
  void insert(std::span<const NodeId> batch);

  /// Prunes every vertex to at most `degree` edges.
  void prune_to_degree();

  /// Returns the affine sets that options.affinity asked for.
  AffineSets take_affine() { return std::move(affine_); }

  /// Distances computed so far.
  std::uint64_t distances() const;

 private:
  struct Worker {
    Worker(const BuildSpace& space, PruneParameters parameters, const Hubs& hubs)
        : prune(space, parameters, &hubs) {}
    RobustPrune prune;
    BeamScratch scratch;
    std::vector<Neighbor> pool;
    std::vector<NodeId> ids;
    std::uint64_t estimates = 0;
  };

  void propose(std::size_t slot, NodeId point, Worker& worker);
  void remember_affine(NodeId point, Worker& worker);
  void collect_back_edges(std::span<const NodeId> batch);
  void add_back_edges(std::span<const std::uint64_t> edges, Worker& worker);
  void stop_if_interrupted() const;

  const BuildSpace& space_;
  const VamanaOptions options_;
  const unsigned threads_;
  Graph& graph_;
  AffineSets affine_;
  Hubs hubs_;  ///< changes only between parallel steps
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<NodeId> proposals_;  ///< `degree` slots per point of the batch
  std::vector<std::uint32_t> proposal_sizes_;
  std::vector<std::uint64_t> edges_;  ///< (target << 32 | source), sorted
  std::vector<std::size_t> groups_;   ///< where each target's run begins in edges_
};

}  // namespace farvec::graph
