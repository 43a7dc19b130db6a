// Whether near queries walk the same paths: for pairs of rows, how near they are against the share
// of what the search of the second one visits that the search of the first one visited too.
//   build/release/bin/path_overlap --data base.fbin --metric l2 --searches 2000 --pairs 500000
// Builds an HNSW graph in memory, searches for rows chosen at random, and pairs them at random.
// Prints pairs from the farthest to the nearest in groups, and how similarity and overlap are
// correlated (Pearson, and Spearman by ranks). Exact: no disk, no time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/random.h"
#include "bench/hnsw_in_memory.h"
#include "bench/recorded_search.h"
#include "bench/run_bench.h"
#include "dataset/vector_set.h"
#include "indexing/source.h"

namespace farvec {
namespace {

struct Arguments {
  std::string data, metric = "l2";
  std::uint64_t searches = 2000, pairs = 500'000, seed = 1;
  HnswInMemory hnsw;
};

/// Ends of the groups of pairs, as shares of all of them, the farthest first.
constexpr double kGroupEnds[] = {0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1};

struct Pair {
  float distance = 0;
  double overlap = 0;
};

/// Everything that a search looked at, ascending, once.
std::vector<NodeId> visited(RecordedSearch& search, const std::byte* query) {
  std::vector<NodeId> ids;
  for (const auto& batch : search.run(query)) ids.insert(ids.end(), batch.begin(), batch.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Of what the later search visited, the share that the earlier one had.
double overlap(const std::vector<NodeId>& earlier, const std::vector<NodeId>& later) {
  std::size_t shared = 0;
  for (auto a = earlier.begin(), b = later.begin(); a != earlier.end() && b != later.end();) {
    if (*a == *b) ++shared;
    const bool step_a = *a <= *b;
    if (*b <= *a) ++b;
    if (step_a) ++a;
  }
  return static_cast<double>(shared) / static_cast<double>(later.size());
}

double pearson(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xy / std::sqrt(xx * yy);
}

/// The place of every value among all; equal values share the mean of their places.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    const double mean = static_cast<double>(first + last - 1) / 2;
    for (std::size_t i = first; i < last; ++i) rank[order[i]] = mean;
  }
  return rank;
}

/// So many different rows at random.
std::vector<NodeId> choose(std::uint64_t wanted, std::uint64_t rows, Random& random) {
  std::vector<NodeId> all(rows);
  std::iota(all.begin(), all.end(), NodeId{0});
  const std::uint64_t count = std::clamp<std::uint64_t>(wanted, 2, rows);
  for (std::uint64_t i = 0; i < count; ++i) std::swap(all[i], all[i + random.below(rows - i)]);
  all.resize(count);
  return all;
}

std::vector<Pair> measure(const Arguments& arguments) {
  const Metric metric = parse_metric(arguments.metric);
  const dataset::VectorSet data = indexing::stored_rows(dataset::load(arguments.data), metric, 1);
  if (data.count() < 2) throw Error("'{}' has fewer than two rows", arguments.data);
  const VectorView rows = data.view();
  const graph::HnswGraph graph = arguments.hnsw.build(rows, metric);
  RecordedSearch search(graph, rows, metric, arguments.hnsw.ef_search);
  Random random(arguments.seed);
  const std::vector<NodeId> queries = choose(arguments.searches, rows.count, random);
  std::vector<std::vector<NodeId>> paths;
  paths.reserve(queries.size());
  for (const NodeId query : queries) paths.push_back(visited(search, rows.row(query)));
  const auto pair_distance = distance::pair_kernel(metric, rows.type, rows.dimension);
  std::vector<Pair> pairs(arguments.pairs);
  for (Pair& pair : pairs) {
    const std::uint64_t a = random.below(queries.size());
    const std::uint64_t b = (a + 1 + random.below(queries.size() - 1)) % queries.size();
    pair = {pair_distance(rows.row(queries[a]), rows.row(queries[b]), rows.dimension),
            overlap(paths[a], paths[b])};
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.distance > b.distance; });
  return pairs;
}

void run(const Arguments& arguments) {
  const std::vector<Pair> pairs = measure(arguments);
  fmt::print("{:>9} {:>9} {:>11} {:>11} {:>9}\n", "nearest", "pairs", "distance", "overlap",
             "most");
  std::size_t begin = 0;
  for (const double share : kGroupEnds) {
    const auto end = static_cast<std::size_t>(share * static_cast<double>(pairs.size()));
    if (end == begin) continue;
    double distance = 0, sum = 0, most = 0;
    for (std::size_t i = begin; i < end; ++i) {
      distance += pairs[i].distance;
      sum += pairs[i].overlap;
      most = std::max(most, pairs[i].overlap);
    }
    const auto count = static_cast<double>(end - begin);
    fmt::print("{:>8.2f}% {:9} {:11.4g} {:11.4f} {:9.4f}\n",
               100 * (1 - static_cast<double>(begin) / static_cast<double>(pairs.size())),
               end - begin, distance / count, sum / count, most);
    begin = end;
  }
  std::vector<double> nearness, overlaps;
  for (const Pair& pair : pairs) {
    nearness.push_back(-pair.distance);
    overlaps.push_back(pair.overlap);
  }
  fmt::print("correlation of nearness and overlap: Pearson {:.3f}, Spearman {:.3f}\n",
             pearson(nearness, overlaps), pearson(ranks(nearness), ranks(overlaps)));
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments arguments;
  farvec::CommandLine app("Whether near queries walk the same paths of an HNSW graph");
  app.add_option("--data", arguments.data, "Vectors").required();
  app.add_option("--metric", arguments.metric).show_default();
  app.add_option("--searches", arguments.searches, "Rows to search for").show_default();
  app.add_option("--pairs", arguments.pairs, "Of these rows").show_default();
  app.add_option("--seed", arguments.seed).show_default();
  arguments.hnsw.add_options(app);
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(arguments); });
}
