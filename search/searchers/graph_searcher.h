// A GraphSearcher runs one slot's searches of a graph index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/row_set.h"
#include "graph/beam_search.h"
#include "search/core/search_core.h"
#include "search/index/graph_index.h"
#include "search/searchers/counted_search.h"
#include "search/searchers/graph_scan.h"
#include "search/searchers/graph_scorers.h"

namespace farvec::search {

inline void copy_results(const graph::CandidateList& results, SearchAnswer& answer) {
  answer.found = results.size();
  for (std::uint32_t i = 0; i < answer.found; ++i) {
    answer.ids[i] = results[i].id;
    answer.distances[i] = results[i].distance;
  }
}

/// Returns the parameters of a search of a graph.
template <typename Index>
graph::BeamParameters beam_parameters(const Index& index, const SearchRequest& request) {
  const GraphChoice& choice = request.parameters.graph();
  graph::BeamParameters parameters;
  parameters.k = request.parameters.k();
  parameters.list = choice.list;
  parameters.width = choice.width;
  parameters.max_degree = index.max_degree();
  parameters.node_count = static_cast<std::uint32_t>(index.count());
  parameters.out = request.out;
  return parameters;
}

/// Decides whether a search in which rows are out, and which found `found` results, is repeated. It
/// is when others kept results out of the list; the list is then doubled, up to the number of
/// vertices.
inline bool lengthen_list(graph::BeamParameters& parameters, std::uint32_t found) {
  const std::uint64_t left = rows_left(parameters.node_count, parameters.out);
  if (left == parameters.node_count || parameters.list >= parameters.node_count) return false;
  if (found >= std::min<std::uint64_t>(parameters.k, left)) return false;
  parameters.list = std::min(2 * parameters.list, parameters.node_count);
  return true;
}

inline void add_counts(const graph::BeamCounts& counts, QueryCounts& sum) {
  sum.hops += counts.hops;
  sum.estimates += counts.estimates;
  sum.distances += counts.distances;
  sum.bridges += counts.passed;
}

/// Source is a graph::NodeSource with begin(request, counts) and coverage(); Scorer fits the
/// index's codes.
template <typename Source, typename Scorer>
class GraphSearcher {
 public:
  GraphSearcher(const GraphIndex& index, std::uint32_t max_list, Source source)
      : index_(index),
        bounds_{.vectors = index.count(), .list = max_list},
        source_(std::move(source)) {}

  Status search(const SearchRequest& request, SearchAnswer& answer) {
    if (Status status = request.parameters.check(bounds_); !status.ok()) return status;
    if (request.is_among_rows() || request.exact) return scan(request, answer);
    ++answer.counts.walks;
    Scorer::prepare(index_, request.query, prepared_);
    source_.begin(request, answer.counts);
    const Scorer scorer{index_, prepared_, request.query};
    graph::BeamParameters parameters = beam_parameters(index_, request);
    parameters.out_vertices = index_.row_vertices() == nullptr ? request.out : request.out_vertices;
    Status status;
    do {
      status = request.count_lines
                   ? search_counting_lines<Source, Scorer>(
                         {index_, source_, scorer, answer.counts.lines}, parameters, scratch_)
                   : graph::beam_search(source_, scorer, index_.entries(), parameters, scratch_);
      add_counts(scratch_.counts, answer.counts);
    } while (status.ok() && answer.counts.lost == 0 &&
             lengthen_list(parameters, scratch_.results.size()));
    if (answer.counts.lost > 0) answer.coverage = source_.coverage();
    if (status.ok()) copy_results(scratch_.results, answer);
    return status;
  }

  std::size_t dram_bytes() const { return scratch_.dram_bytes(); }

 private:
  Status scan(const SearchRequest& request, SearchAnswer& answer) {
    ++answer.counts.scans;
    source_.begin(request, answer.counts);
    const Status status =
        scan_graph<Source, Scorer>({index_, source_, prepared_, scratch_}, request, answer.counts);
    if (answer.counts.lost > 0) answer.coverage = source_.coverage();
    if (status.ok()) copy_results(scratch_.results, answer);
    return status;
  }

  const GraphIndex& index_;
  const SearchBounds bounds_;
  Source source_;
  graph::BeamScratch scratch_;
  typename Scorer::Prepared prepared_;
};

}  // namespace farvec::search
