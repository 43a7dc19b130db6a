#include "graph/vamana_builder.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/random.h"
#include "graph/batch_insert.h"
#include "graph/build_space.h"
#include "graph/reachability.h"

namespace farvec::graph {
namespace {

/// A vertex may hold this much more than R edges until it is pruned again.
constexpr float kSlack = 1.3f;
/// Batches double up to this share of the data: points of one batch do not see each other.
constexpr double kLargestBatch = 0.02;

void check_options(const VectorView& data, const VamanaOptions& options) {
  if (data.count >= kMaxNodes) {
    throw Error("{} vectors are too many for one graph: the limit is {}", data.count,
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

std::vector<NodeId> shuffled_ids(std::size_t count, std::uint64_t seed) {
  std::vector<NodeId> ids(count);
  std::iota(ids.begin(), ids.end(), NodeId{0});
  Random random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  return ids;
}

}  // namespace

Graph build_vamana(VectorView data, Metric metric, const VamanaOptions& options,
                   VamanaStats* stats) {
  check_options(data, options);
  const auto start = std::chrono::steady_clock::now();
  const unsigned threads = resolve_threads(options.threads);
  const auto slack_degree = static_cast<std::uint32_t>(static_cast<float>(options.degree) * kSlack);
  Graph graph(data.count, std::max(slack_degree, options.degree + 1));
  VamanaStats result;
  if (data.count > 0) {
    const BuildSpace space(data, metric, threads);
    graph.entry = space.medoid(threads);
    BatchInserter inserter(space, options, threads, graph);
    const std::vector<NodeId> order = shuffled_ids(data.count, options.seed);
    const auto largest = std::max<std::size_t>(
        static_cast<std::size_t>(kLargestBatch * static_cast<double>(data.count)), 1);
    Progress progress("graph", data.count * options.passes, options.quiet);
    for (std::uint32_t pass = 0; pass < options.passes; ++pass) {
      std::size_t batch = pass == 0 ? 1 : largest;
      for (std::size_t begin = 0; begin < order.size(); begin += batch) {
        if (begin > 0) batch = std::min(std::max(batch, begin), largest);
        const std::size_t size = std::min(batch, order.size() - begin);
        inserter.insert({order.data() + begin, size});
        progress.advance(size);
      }
    }
    inserter.prune_to_degree();
    result.repaired = make_reachable(graph, space, options.degree);
    result.distances = inserter.distances();
    result.affine = inserter.take_affine();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (stats != nullptr) *stats = std::move(result);
  return graph;
}

}  // namespace farvec::graph
