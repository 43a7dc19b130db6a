// One slot's searches of a graph index.
#pragma once

#include <cstdint>
#include <utility>

#include "graph/beam_search.h"
#include "quantization/rabitq.h"
#include "search/graph_index.h"
#include "search/search_core.h"

namespace farvec::search {

/// The answer of a search.
inline void copy_results(const graph::CandidateList& results, SearchTask& task) {
  task.found = results.size();
  for (std::uint32_t i = 0; i < task.found; ++i) {
    task.ids[i] = results[i].id;
    task.distances[i] = results[i].distance;
  }
}

/// Scores one query: neighbours by their codes in local DRAM, expanded records by their vectors.
struct CodeScorer {
  const GraphIndex& index;
  const quantization::RabitqQuery& prepared;
  const std::byte* query;

  void prefetch(NodeId id) const { index.quantizer().prefetch_record(index.codes(), id); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    index.quantizer().estimate(prepared, index.codes(), ids, count, out);
  }
  float exact(NodeId, const NodeRecord& record) const {
    return index.kernel()(query, record.vector, index.dimension());
  }
};

/// What every search of a graph asks of a task.
template <typename Index>
Status check_graph_task(const Index& index, std::uint32_t max_list, const SearchTask& task) {
  if (task.k == 0) return {StatusCode::invalid_argument, "k must be at least 1"};
  if (task.k > index.count()) {
    return {StatusCode::invalid_argument, "k exceeds the vector count"};
  }
  if (task.list < task.k) return {StatusCode::invalid_argument, "the list must be at least k"};
  if (task.list > max_list) {
    return {StatusCode::invalid_argument, "the list exceeds its maximum"};
  }
  if (task.width == 0 || task.width > graph::kMaxWidth) {
    return {StatusCode::invalid_argument, "the width must be from 1 to 64"};
  }
  return {};
}

template <typename Index>
graph::BeamParameters beam_parameters(const Index& index, const SearchTask& task) {
  graph::BeamParameters parameters;
  parameters.k = task.k;
  parameters.list = task.list;
  parameters.width = task.width;
  parameters.max_degree = index.max_degree();
  parameters.node_count = static_cast<std::uint32_t>(index.count());
  return parameters;
}

inline void copy_counts(const graph::BeamCounts& counts, SearchTask& task) {
  task.counts.hops = counts.hops;
  task.counts.estimates = counts.estimates;
  task.counts.distances = counts.distances;
}

/// Source is a graph::NodeSource with begin(task) and coverage().
template <typename Source>
class GraphSearcher {
 public:
  GraphSearcher(const GraphIndex& index, std::uint32_t max_list, Source source)
      : index_(index), max_list_(max_list), source_(std::move(source)) {}

  Status search(SearchTask& task) {
    if (Status status = check_graph_task(index_, max_list_, task); !status.ok()) return status;
    index_.quantizer().prepare(task.query, prepared_);
    source_.begin(task);
    const CodeScorer scorer{index_, prepared_, task.query};
    const Status status = graph::beam_search(source_, scorer, index_.entries(),
                                             beam_parameters(index_, task), scratch_);
    copy_counts(scratch_.counts, task);
    if (task.counts.lost > 0) task.coverage = source_.coverage();
    if (status.ok()) copy_results(scratch_.results, task);
    return status;
  }

  std::size_t dram_bytes() const { return scratch_.dram_bytes(); }

 private:
  const GraphIndex& index_;
  const std::uint32_t max_list_;
  Source source_;
  graph::BeamScratch scratch_;
  quantization::RabitqQuery prepared_;
};

}  // namespace farvec::search
