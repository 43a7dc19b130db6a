#include "graph/query_edges.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "distance/distance.h"
#include "graph/adjacency_source.h"
#include "graph/beam_search.h"
#include "graph/entry_points.h"
#include "graph/stored_row_scorer.h"

namespace farvec::graph {
namespace {

/// The answers of a query that get ways between them. With more, edges would go to others that the
/// nearest ones need.
constexpr std::uint32_t kAnswers = 16;
/// The number of queries that are searched before the edges of the first are added.
constexpr std::size_t kQueryBatch = 1024;
constexpr std::size_t kQueryChunk = 16;
/// The least length of the list: a shorter one would miss some answers.
constexpr std::uint32_t kLeastList = 200;

/// Says which of a query's answers lead to which, by ways through its answers alone.
class Ways {
 public:
  Ways(const Graph& graph, std::span<const NodeId> answers) : count_(answers.size()) {
    for (std::size_t from = 0; from < count_; ++from) {
      to_[from] = bit(from);
      for (const NodeId next : graph.neighbors(answers[from])) {
        const auto found = std::find(answers.begin(), answers.end(), next);
        if (found != answers.end())
          to_[from] |= bit(static_cast<std::size_t>(found - answers.begin()));
      }
    }
    for (std::size_t by = 0; by < count_; ++by) {
      for (std::size_t from = 0; from < count_; ++from) {
        if (lead(from, by)) to_[from] |= to_[by];
      }
    }
  }

  bool lead(std::size_t from, std::size_t to) const { return (to_[from] & bit(to)) != 0; }
  void add(std::size_t from, std::size_t to) {
    for (std::size_t before = 0; before < count_; ++before) {
      if (lead(before, from)) to_[before] |= to_[to];
    }
  }

 private:
  static std::uint64_t bit(std::size_t answer) { return std::uint64_t{1} << answer; }

  const std::size_t count_;
  std::array<std::uint64_t, kAnswers> to_;
};

/// Goes through the sample once.
class QueryLinker {
 public:
  QueryLinker(Graph& graph, const BuildSpace& space, Metric metric, const VamanaOptions& options)
      : graph_(graph),
        rows_(space.data()),
        options_(options),
        pair_(distance::pair_kernel(metric, rows_.type, rows_.dimension)),
        many_(distance::many_kernel(metric, rows_.type, rows_.dimension)),
        entries_(spread_entries(graph.entry, graph.count())),
        scratch_(resolve_threads(options.threads)),
        answers_(kQueryBatch),
        own_(graph.count()) {}

  QueryEdges run() {
    const VectorView& queries = options_.sample_queries;
    Progress progress("edges of sample queries", queries.count, options_.quiet,
                      options_.interrupted);
    for (std::size_t begin = 0; begin < queries.count; begin += kQueryBatch) {
      const std::size_t count = std::min(kQueryBatch, queries.count - begin);
      search(queries.part(begin, count), progress);
      for (std::size_t i = 0; i < count; ++i) link(answers_[i]);
    }
    return done_;
  }

 private:
  /// Finds the answers of a batch in the graph as it is.
  void search(const VectorView& queries, Progress& progress) {
    const auto threads = static_cast<unsigned>(scratch_.size());
    std::vector<std::uint64_t> distances(threads);
    parallel_for(queries.count, kQueryChunk, threads,
                 [&](std::size_t begin, std::size_t end, unsigned w) {
                   for (std::size_t i = begin; i < end; ++i) {
                     find(queries.row(i), scratch_[w], answers_[i]);
                     const BeamCounts& counts = scratch_[w].counts;
                     distances[w] += counts.estimates + counts.distances;
                   }
                   progress.advance(end - begin);
                 });
    for (const std::uint64_t of_worker : distances) done_.distances += of_worker;
  }

  void find(const void* query, BeamScratch& scratch, std::vector<NodeId>& answers) const {
    BeamParameters parameters;
    parameters.k = kAnswers;
    parameters.list = std::max(options_.list, kLeastList);
    parameters.max_degree = graph_.row_capacity();
    parameters.node_count = static_cast<std::uint32_t>(graph_.count());
    AdjacencySource source{graph_};
    const StoredRowScorer scorer{rows_, query, pair_, many_};
    const Status status = beam_search(source, scorer, entries_, parameters, scratch);
    FARVEC_CHECK(status.ok(), "{}", status.message());
    answers.clear();
    for (std::uint32_t i = 0; i < scratch.results.size(); ++i) {
      answers.push_back(scratch.results[i].id);
    }
  }

  /// Nearer answers first, so that the answers that most searches pass get the room that there is.
  void link(std::span<const NodeId> answers) {
    Ways ways(graph_, answers);
    const auto lead = [&](std::size_t from, std::size_t to) {
      if (ways.lead(from, to) || !add_edge(answers[from], answers[to])) return;
      ways.add(from, to);
    };
    for (std::size_t later = 1; later < answers.size(); ++later) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        lead(earlier, later);
        lead(later, earlier);
      }
    }
  }

  bool add_edge(NodeId from, NodeId to) {
    if (2 * (own_[from] + 1u) > options_.degree) return false;
    const auto row = graph_.neighbors(from);
    edges_.assign(1, to);
    edges_.insert(edges_.end(), row.begin(), row.end());
    if (edges_.size() > options_.degree) edges_.pop_back();
    graph_.set_neighbors(from, edges_);
    ++own_[from];
    ++done_.edges;
    return true;
  }

  Graph& graph_;
  const VectorView rows_;
  const VamanaOptions& options_;
  const distance::PairKernel pair_;
  const distance::ManyKernel many_;
  const std::vector<NodeId> entries_;
  std::vector<BeamScratch> scratch_;
  /// Answers of each of the batch's queries, nearest first.
  std::vector<std::vector<NodeId>> answers_;
  /// For each vertex, the number of its edges that were added here.
  std::vector<std::uint16_t> own_;
  std::vector<NodeId> edges_;
  QueryEdges done_;
};

}  // namespace

QueryEdges add_query_edges(Graph& graph, const BuildSpace& space, Metric metric,
                           const VamanaOptions& options) {
  return QueryLinker(graph, space, metric, options).run();
}

}  // namespace farvec::graph
