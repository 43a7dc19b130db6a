#include "graph/vamana_growth.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/random.h"
#include "graph/query_edges.h"
#include "graph/reachability.h"

namespace farvec::graph {
namespace {

/// A vertex may hold this much more than R edges until it is pruned again.
constexpr float kSlack = 1.3f;
/// Batches double up to this share of the data: points of one batch do not see each other.
constexpr double kLargestBatch = 0.02;

std::uint32_t slack_degree(std::uint32_t degree) {
  return std::max(static_cast<std::uint32_t>(static_cast<float>(degree) * kSlack), degree + 1);
}

std::vector<NodeId> shuffled_ids(std::size_t first, std::size_t end, std::uint64_t seed) {
  std::vector<NodeId> ids(end - first);
  std::iota(ids.begin(), ids.end(), static_cast<NodeId>(first));
  Random random(seed);
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  return ids;
}

}  // namespace

void check_vamana(const VectorView& rows, const VamanaOptions& options) {
  if (rows.count >= kMaxNodes) {
    throw Error("{} vectors are too many for one graph: the limit is {}", rows.count,
                kMaxNodes - 1);
  }
  if (options.degree == 0 || options.degree > 1024) {
    throw Error("degree {} is out of range: use 1 to 1024", options.degree);
  }
  if (options.list == 0 || options.list > 10000) {
    throw Error("build list {} is out of range: use 1 to 10000", options.list);
  }
  if (!(options.alpha >= 1.0f && options.alpha <= 4.0f)) {
    throw Error("alpha {} is out of range: use 1.0 to 4.0", options.alpha);
  }
  if (options.passes == 0 || options.passes > 4) {
    throw Error("{} passes are out of range: use 1 to 4", options.passes);
  }
}

VamanaGrowth::VamanaGrowth(VectorView rows, Metric metric, const VamanaOptions& options)
    : start_(std::chrono::steady_clock::now()),
      metric_(metric),
      options_(options),
      threads_(resolve_threads(options.threads)),
      space_(rows, metric, threads_),
      medoid_(space_.medoid(threads_)),
      graph_(rows.count, slack_degree(options.degree)),
      inserter_(space_, options_, threads_, graph_) {}

void VamanaGrowth::insert_from(std::size_t first) {
  const std::vector<NodeId> order = shuffled_ids(first, graph_.count(), options_.seed);
  if (order.empty()) return;
  Progress progress("graph", order.size() * options_.passes, options_.quiet);
  const auto largest = std::max<std::size_t>(
      static_cast<std::size_t>(kLargestBatch * static_cast<double>(graph_.count())), 1);
  for (std::uint32_t pass = 0; pass < options_.passes; ++pass) {
    inserter_.begin_pass();
    for (std::size_t begin = 0, size = 0; begin < order.size(); begin += size) {
      const std::size_t there = pass == 0 ? first + begin : graph_.count();
      size = std::min(std::clamp<std::size_t>(there, 1, largest), order.size() - begin);
      inserter_.insert({order.data() + begin, size});
      progress.advance(size);
      options_.advanced(size);
    }
  }
}

Graph VamanaGrowth::finish(VamanaStats& stats) {
  graph_.entry = medoid_;
  inserter_.prune_to_degree();
  stats.repaired += make_reachable(graph_, space_, options_.degree, graph_.count());
  if (options_.sample_queries.count > 0) {
    const QueryEdges added = add_query_edges(graph_, space_, metric_, options_);
    stats.query_edges = added.edges;
    stats.distances += added.distances;
    stats.repaired += make_reachable(graph_, space_, options_.degree, graph_.count());
  }
  stats.distances += inserter_.distances();
  stats.affine = inserter_.take_affine();
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return std::move(graph_);
}

}  // namespace farvec::graph
