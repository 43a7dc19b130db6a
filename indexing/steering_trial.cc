#include "indexing/steering_trial.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "distance/distance.h"
#include "graph/beam_search.h"
#include "graph/entry_points.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kMostQueries = 128, kFewestQueries = 32, kRowsPerQuery = 32;
constexpr std::uint32_t kTruthList = 400;
constexpr std::size_t kQueryRun = 4;

/// The records of a graph in local memory. `codes` fills in those of a vertex's neighbours, if
/// there are any.
template <typename Codes>
struct TrialSource {
  const AdjacencyView& graph;
  Codes codes;

  void expect(NodeId) const {}
  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    for (const NodeId id : frontier) {
      NodeRecord record{nullptr, reinterpret_cast<const std::byte*>(graph.row(id)),
                        graph.degrees[id]};
      record.codes = codes(id);
      visit(id, record);
    }
    return {};
  }
};

struct NoCodes {
  const std::byte* operator()(NodeId) const { return nullptr; }
};

/// The exact part of every scorer.
struct VectorDistances {
  const VectorView& rows;
  distance::PairKernel pair;
  distance::ManyKernel many;
  const std::byte* query;

  float operator()(NodeId id) const { return pair(query, rows.row(id), rows.dimension); }
};

struct ExactScorer {
  VectorDistances distances;

  void prefetch(NodeId) const {}
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    distances.many(distances.query, distances.rows, {ids, count}, out);
  }
  float exact(NodeId id, const NodeRecord&) const { return distances(id); }
};

struct CodeScorer {
  VectorDistances distances;
  const quantization::Rabitq& quantizer;
  const std::byte* codes;
  const quantization::RabitqQuery& prepared;

  void prefetch(NodeId id) const { quantizer.prefetch_record(codes, id); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    quantizer.estimate(prepared, codes, ids, count, out);
  }
  float exact(NodeId id, const NodeRecord&) const { return distances(id); }
};

struct EdgeScorer {
  static constexpr std::uint32_t kBlock = quantization::kScanBlock;
  VectorDistances distances;
  const quantization::NeighborCodes& codes;
  const quantization::NeighborQuery& prepared;
  std::span<const NodeId> entries;

  float entry(std::size_t i) const { return distances(entries[i]); }
  std::uint32_t estimate(const NodeRecord& record, const graph::NeighborBlock& block,
                         float* out) const {
    return codes.estimate(prepared, {record.codes, block.number, block.distance, block.bound}, out);
  }
  float exact(NodeId id, const NodeRecord&) const { return distances(id); }
};

/// One search of the trial. Each way of steering is a functor that takes it.
struct TrialSearch {
  const TrialGraph& graph;
  std::span<const NodeId> entries;
  const graph::BeamParameters& parameters;
  VectorDistances distances;
  graph::BeamScratch& scratch;

  template <typename Source, typename Scorer>
  void run(Source source, const Scorer& scorer) const {
    const Status status = graph::beam_search(source, scorer, entries, parameters, scratch);
    FARVEC_CHECK(status.ok(), "{}", status.message());
  }
};

struct SteerByVectors {
  void operator()(const TrialSearch& search) const {
    search.run(TrialSource<NoCodes>{search.graph.graph, {}}, ExactScorer{search.distances});
  }
};

struct SteerByCodes {
  const quantization::Rabitq& quantizer;
  const std::byte* codes;

  void operator()(const TrialSearch& search) const {
    quantization::RabitqQuery prepared;
    quantizer.prepare(search.distances.query, prepared);
    search.run(TrialSource<NoCodes>{search.graph.graph, {}},
               CodeScorer{search.distances, quantizer, codes, prepared});
  }
};

struct SteerByEdges {
  const quantization::NeighborEncoder& encoder;

  void operator()(const TrialSearch& search) const {
    quantization::NeighborQuery prepared;
    encoder.codes().prepare(search.distances.query, prepared);
    std::vector<std::byte> bytes(encoder.codes().bytes(search.parameters.max_degree));
    const auto encode = [&](NodeId id) {
      encoder.encode(id, bytes.data());
      return static_cast<const std::byte*>(bytes.data());
    };
    search.run(TrialSource<decltype(encode)>{search.graph.graph, encode},
               EdgeScorer{search.distances, encoder.codes(), prepared, search.entries});
  }
};

VectorDistances distances_of(const TrialGraph& graph, const std::byte* query) {
  const VectorView& rows = graph.rows;
  return {rows, distance::pair_kernel(graph.metric, rows.type, rows.dimension),
          distance::many_kernel(graph.metric, rows.type, rows.dimension), query};
}

graph::BeamParameters trial_parameters(const AdjacencyView& graph, std::uint32_t list) {
  graph::BeamParameters parameters;
  parameters.k = SteeringTrial::kResults;
  parameters.list = list;
  parameters.max_degree = graph.row_capacity;
  parameters.node_count = static_cast<std::uint32_t>(graph.count);
  return parameters;
}

}  // namespace

SteeringTrial::SteeringTrial(const TrialGraph& graph, std::uint64_t seed, unsigned threads)
    : graph_(graph),
      threads_(resolve_threads(threads)),
      entries_(graph::spread_entries(graph.graph.entry, graph.graph.count)) {
  make_queries(seed);
  find_neighbors();
}

/// A point between two rows has half of their squared distance from each. So the other parent is
/// the nearest neighbour of at least twice the least squared distance, else the farthest one; v
/// where there is none.
NodeId SteeringTrial::other_parent(NodeId v) const {
  const VectorView& rows = graph_.rows;
  const distance::PairKernel pair = distance::pair_kernel(Metric::l2, rows.type, rows.dimension);
  std::vector<std::pair<float, NodeId>> neighbors;
  for (std::uint32_t i = 0; i < graph_.graph.degrees[v]; ++i) {
    const NodeId id = graph_.graph.row(v)[i];
    neighbors.emplace_back(pair(rows.row(v), rows.row(id), rows.dimension), id);
  }
  if (neighbors.empty()) return v;
  std::sort(neighbors.begin(), neighbors.end());
  const float least = 2 * neighbors.front().first;
  const auto far = std::find_if(neighbors.begin(), neighbors.end(),
                                [&](const auto& neighbor) { return neighbor.first >= least; });
  return far == neighbors.end() ? neighbors.back().second : far->second;
}

void SteeringTrial::make_queries(std::uint64_t seed) {
  const VectorView& rows = graph_.rows;
  const std::size_t count = std::clamp(rows.count / kRowsPerQuery, kFewestQueries, kMostQueries);
  const std::size_t width = element_bytes(rows.type);
  bytes_.resize(count * rows.row_bytes());
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const auto v = static_cast<NodeId>(random.below(rows.count));
    const std::byte* const parents[2] = {rows.row(v), rows.row(other_parent(v))};
    std::byte* const query = bytes_.data() + i * rows.row_bytes();
    for (std::uint32_t j = 0; j < rows.dimension; ++j) {
      std::memcpy(query + j * width, parents[random.next() >> 63] + j * width, width);
    }
    queries_.push_back({query, 0, 0});
  }
}

void SteeringTrial::find_neighbors() {
  parallel_for(
      queries_.size(), kQueryRun, threads_, [&](std::size_t begin, std::size_t end, unsigned) {
        graph::BeamScratch scratch;
        const graph::BeamParameters parameters = trial_parameters(graph_.graph, kTruthList);
        for (std::size_t i = begin; i < end; ++i) {
          const VectorDistances distances = distances_of(graph_, queries_[i].row);
          SteerByVectors{}({graph_, entries_, parameters, distances, scratch});
          const graph::CandidateList& found = scratch.results;
          queries_[i].neighbors = found.size();
          if (found.size() > 0) queries_[i].farthest = found[found.size() - 1].distance;
        }
      });
}

template <typename Steer>
double SteeringTrial::recall(const Steer& steer, std::uint32_t list) const {
  std::vector<std::uint64_t> hits(queries_.size()), wanted(queries_.size());
  parallel_for(queries_.size(), kQueryRun, threads_,
               [&](std::size_t begin, std::size_t end, unsigned) {
                 graph::BeamScratch scratch;
                 const graph::BeamParameters parameters = trial_parameters(graph_.graph, list);
                 for (std::size_t i = begin; i < end; ++i) {
                   const VectorDistances distances = distances_of(graph_, queries_[i].row);
                   steer(TrialSearch{graph_, entries_, parameters, distances, scratch});
                   for (std::uint32_t n = 0; n < scratch.results.size(); ++n) {
                     if (scratch.results[n].distance <= queries_[i].farthest) ++hits[i];
                   }
                   wanted[i] = queries_[i].neighbors;
                 }
               });
  std::uint64_t found = 0, all = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    found += std::min(hits[i], wanted[i]);
    all += wanted[i];
  }
  return all == 0 ? 1.0 : static_cast<double>(found) / static_cast<double>(all);
}

double SteeringTrial::by_vectors(std::uint32_t list) const {
  return recall(SteerByVectors{}, list);
}

double SteeringTrial::by_codes(const quantization::Rabitq& quantizer, const std::byte* codes,
                               std::uint32_t list) const {
  return recall(SteerByCodes{quantizer, codes}, list);
}

double SteeringTrial::by_codes(const quantization::NeighborEncoder& encoder,
                               std::uint32_t list) const {
  return recall(SteerByEdges{encoder}, list);
}

}  // namespace farvec::indexing
