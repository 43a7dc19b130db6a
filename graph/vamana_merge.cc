#include "graph/vamana_merge.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "graph/deletion_repair.h"
#include "graph/hubs.h"
#include "graph/reachability.h"
#include "graph/robust_prune.h"
#include "graph/sampled_graph.h"
#include "graph/vamana_growth.h"

namespace farvec::graph {
namespace {

/// One in this many vertices gets long ways; kLeastSample and kMostSample bound their number.
constexpr std::size_t kSampledOneIn = 64;
constexpr std::size_t kLeastSample = 256;
constexpr std::size_t kMostSample = 65'536;
/// The share of a vertex's edges that may be long ways.
constexpr std::uint32_t kLongWaysOneIn = 4;

/// Says whether edges among what stays are worth keeping. Where most neighbours of most vertices
/// are out, what those led to is a poor choice of neighbours: searches find less than in a graph
/// that is built anew, which has less than half of the vertices to insert.
bool is_worth_keeping(std::size_t kept, std::size_t former) {
  return 2 * kept >= former;
}

/// Puts what stays of the former graph into `growth`, all of it reachable from where searches
/// begin. Returns the number of these vertices: 0 where all of them have to be inserted.
std::size_t carry_over(const VamanaMerge& merge, VamanaGrowth& growth, VamanaStats& stats) {
  const DeletionRepair repair(merge.former, merge.out);
  const std::size_t kept = repair.kept();
  FARVEC_CHECK(kept <= merge.rows.count, "{} vertices stay, of {} rows", kept, merge.rows.count);
  Graph& graph = growth.graph();
  graph.entry = growth.medoid();
  if (kept == 0 || !is_worth_keeping(kept, merge.former.count())) return 0;
  stats.distances += repair.run(growth);
  if (growth.medoid() >= kept) {
    const NodeId entry = repair.number(merge.former.entry);
    graph.entry = entry == kInvalidNode ? 0 : entry;
  }
  stats.repaired += make_reachable(graph, growth.space(), growth.options().degree, kept);
  return kept;
}

/// Adds long ways, because deletions may leave too few: when a region goes, ways that led through
/// it go too. A build from nothing gets long ways from its first vertices, which saw few others.
/// Here a sample of the vertices gets the edges of a graph over the sample alone, before its own
/// edges.
void add_long_ways(VamanaGrowth& growth, VamanaStats& stats) {
  const VamanaOptions& options = growth.options();
  Graph& graph = growth.graph();
  const std::size_t wanted = std::clamp(graph.count() / kSampledOneIn, kLeastSample, kMostSample);
  const auto vertices = static_cast<std::uint32_t>(std::min(wanted, graph.count()));
  const std::uint32_t degree = options.degree / kLongWaysOneIn;
  if (degree == 0) return;
  const SampledGraph sample(growth.space().data(), growth.metric(),
                            {vertices, degree, options.seed, options.threads, options.interrupted});
  Hubs hubs(graph.count(), options.degree);
  hubs.recount(graph);
  RobustPrune prune(growth.space(), {options.degree, options.alpha}, &hubs);
  std::vector<NodeId> own;
  const auto lead = [&](NodeId v, std::span<const NodeId> ways) {
    own.clear();
    for (const NodeId id : graph.neighbors(v)) {
      if (std::find(ways.begin(), ways.end(), id) == ways.end()) own.push_back(id);
    }
    graph.set_neighbors(v, prune.extend(v, ways, own));
  };
  const AdjacencyView ways = sample.view().graph;
  for (std::size_t i = 0; i < ways.count; ++i) {
    lead(sample.view().ids[i], {ways.row(i), ways.degrees[i]});
  }
  const bool sampled = std::ranges::binary_search(sample.view().ids, growth.medoid());
  if (!sampled) lead(growth.medoid(), {&ways.entry, 1});
  stats.distances += prune.distances();
}

}  // namespace

Graph merge_vamana(VamanaMerge merge, Metric metric, const VamanaOptions& options,
                   VamanaStats* stats) {
  check_vamana(merge.rows, options);
  FARVEC_CHECK(options.affinity.limit == 0, "a merge finds no affine vertices");
  VamanaStats result;
  Graph graph(0, options.degree);
  if (merge.rows.count > 0) {
    VamanaGrowth growth(merge.rows, metric, options);
    const std::size_t kept = carry_over(merge, growth, result);
    merge.former = Graph(0, options.degree);
    growth.insert_from(kept);
    if (kept > 0 && !merge.out.empty()) add_long_ways(growth, result);
    graph = growth.finish(result);
  }
  if (stats != nullptr) *stats = std::move(result);
  return graph;
}

}  // namespace farvec::graph
