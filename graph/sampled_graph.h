// A SampledGraph is a small graph over a sample of the vertices, which finds where a search of the
// large graph starts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/node_record.h"
#include "base/progress.h"
#include "base/status.h"
#include "graph/beam_search.h"
#include "graph/graph.h"

namespace farvec::graph {

struct SampleOptions {
  std::uint32_t vertices = 0;  ///< vertices in the sample; 1 to all
  std::uint32_t degree = 16;   ///< largest degree
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< 0: all processors
  /// See VamanaOptions::interrupted.
  Interruption interrupted = [] { return false; };
  bool quiet = true;  ///< no progress line
};

/// A SampledGraph is a sample of vertices evenly spread over the rows, and a Vamana graph over them
/// (Wang et al., Starling, SIGMOD 2024, section 4.3, navigation graph).
class SampledGraph {
 public:
  /// Copies the sample's rows while it builds. Throws Error for options that make no sense, and
  /// WorkInterrupted.
  SampledGraph(const VectorView& rows, Metric metric, const SampleOptions& options);

  SampledGraphView view() const { return {ids_, graph_.view()}; }

 private:
  std::vector<NodeId> ids_;
  Graph graph_;
};

/// Offers a sampled graph as a NodeSource. Records carry no vector. Never suspends.
struct SampledSource {
  const SampledGraphView& sample;

  void expect(NodeId) const {}

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    const AdjacencyView& graph = sample.graph;
    for (const NodeId id : frontier) {
      const auto at = std::lower_bound(sample.ids.begin(), sample.ids.end(), id);
      const auto v = static_cast<std::size_t>(at - sample.ids.begin());
      visit(id, NodeRecord{nullptr, reinterpret_cast<const std::byte*>(graph.row(v)),
                           graph.degrees[v]});
    }
    return {};
  }
};

/// Scores vertices without their vectors: the estimate is used as the exact distance.
template <NodeScorer Scorer>
struct EstimateScorer {
  const Scorer& scorer;

  void prefetch(NodeId id) const { scorer.prefetch(id); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    scorer.estimate(ids, count, out);
  }
  float exact(NodeId id, const NodeRecord&) const {
    float estimate = 0;
    scorer.estimate(&id, 1, &estimate);
    return estimate;
  }
};

/// Puts the vertices of the sample that a best-first search finds nearest into `out` and returns
/// how many: fewer than `out.size()` only when the sample is smaller. scratch.counts counts the
/// estimates. Every row of the sample must be sound. Never suspends.
template <NodeScorer Scorer>
std::uint32_t find_entries(const SampledGraphView& sample, const Scorer& scorer,
                           std::span<NodeId> out, BeamScratch& scratch) {
  BeamParameters parameters;
  parameters.k = static_cast<std::uint32_t>(out.size());
  parameters.list = parameters.k;
  parameters.max_degree = sample.graph.row_capacity;
  parameters.node_count = sample.ids.back() + 1;
  SampledSource source{sample};
  const NodeId entry = sample.graph.entry;
  const Status status =
      beam_search(source, EstimateScorer<Scorer>{scorer}, {&entry, 1}, parameters, scratch);
  FARVEC_CHECK(status.ok(), "{}", status.message());
  for (std::uint32_t i = 0; i < scratch.results.size(); ++i) out[i] = scratch.results[i].id;
  return scratch.results.size();
}

}  // namespace farvec::graph
