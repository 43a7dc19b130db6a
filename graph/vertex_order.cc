#include "graph/vertex_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "base/progress.h"

namespace farvec::graph {
namespace {

constexpr std::size_t kOrderRun = 4096;  ///< vertices that a thread takes at once
/// Parts of at most this many vertices are not divided: their numbers differ by less than a byte
/// holds.
constexpr std::size_t kSmallestPart = 32;
constexpr int kMostRounds = 20;
/// Rounds end when fewer than one in this many vertices changes sides.
constexpr std::size_t kFewMoves = 100;
/// After this many levels vertices get new numbers, so that what a part asks for is close together
/// in memory.
constexpr int kLevelsPerNumbering = 5;

/// Holds the vertices that point to each vertex.
class Transpose {
 public:
  explicit Transpose(const AdjacencyView& graph) : begins_(graph.count + 1) {
    for_each_edge(graph, [&](NodeId, NodeId to) { ++begins_[to + 1]; });
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    sources_.resize(begins_.back());
    std::vector<std::uint64_t> next(begins_.begin(), begins_.end() - 1);
    for_each_edge(graph, [&](NodeId from, NodeId to) { sources_[next[to]++] = from; });
  }

  std::span<const NodeId> sources(NodeId v) const {
    return std::span(sources_).subspan(begins_[v], begins_[v + 1] - begins_[v]);
  }

 private:
  template <typename Visit>
  static void for_each_edge(const AdjacencyView& graph, const Visit& visit) {
    for (std::size_t v = 0; v < graph.count; ++v) {
      for (std::uint32_t i = 0; i < graph.degrees[v]; ++i) {
        visit(static_cast<NodeId>(v), graph.row(v)[i]);
      }
    }
  }

  std::vector<std::uint64_t> begins_;
  std::vector<NodeId> sources_;
};

/// How many bits more a list costs when it gets its d-th id on a side: for d ids among n, spread
/// evenly, the differences take d log2(n / (d + 1)). n is the same on both sides.
std::vector<float> costs_of_ids(std::uint32_t max_degree) {
  const auto spared = [](double d) { return d * std::log2(d + 1); };
  std::vector<float> costs(max_degree + 2);
  for (std::uint32_t d = 1; d < costs.size(); ++d) {
    costs[d] = static_cast<float>(spared(d) - spared(d - 1));
  }
  return costs;
}

/// How many neighbours of a vertex are in each half of the part that is divided.
struct Sides {
  std::uint16_t count[2] = {0, 0};
};

struct Ranked {
  float gain;  ///< bits saved if the vertex changes sides
  NodeId vertex;
};

/// Divides parts; one per thread.
class Bisector {
 public:
  Bisector(const Transpose& edges, std::span<const float> costs, std::size_t count)
      : edges_(edges), costs_(costs), sides_(count) {}

  /// Puts into the first half of the part the vertices that save most there.
  void divide(std::span<NodeId> part, unsigned threads) {
    ranked_.resize(part.size());
    const std::size_t middle = part.size() / 2;
    for (int half = 0; half < 2; ++half) {
      for (const NodeId v : half_of(part, half)) move(v, half, 1);
    }
    for (int round = 0; round < kMostRounds; ++round) {
      rank(part, middle, threads);
      if (swap_while_it_saves(part, middle) * kFewMoves < part.size()) break;
    }
    for (const NodeId v : part) {
      for (const NodeId source : edges_.sources(v)) sides_[source] = {};
    }
  }

 private:
  static std::span<NodeId> half_of(std::span<NodeId> part, int half) {
    const std::size_t middle = part.size() / 2;
    return half == 0 ? part.first(middle) : part.subspan(middle);
  }

  void move(NodeId v, int half, int by) {
    for (const NodeId source : edges_.sources(v)) {
      std::uint16_t& count = sides_[source].count[half];
      count = static_cast<std::uint16_t>(count + by);
    }
  }

  float gain(NodeId v, int half) const {
    float gain = 0;
    for (const NodeId source : edges_.sources(v)) {
      const Sides& sides = sides_[source];
      gain += costs_[sides.count[1 - half] + 1] - costs_[sides.count[half]];
    }
    return gain;
  }

  void rank(std::span<const NodeId> part, std::size_t middle, unsigned threads) {
    parallel_for(part.size(), kOrderRun, threads,
                 [&](std::size_t begin, std::size_t end, unsigned) {
                   for (std::size_t i = begin; i < end; ++i) {
                     ranked_[i] = {gain(part[i], i < middle ? 0 : 1), part[i]};
                   }
                 });
    const auto most_first = [](const Ranked& a, const Ranked& b) {
      return a.gain > b.gain || (a.gain == b.gain && a.vertex < b.vertex);
    };
    const auto second = ranked_.begin() + static_cast<std::ptrdiff_t>(middle);
    parallel_for(2, 1, threads, [&](std::size_t half, std::size_t, unsigned) {
      half == 0 ? std::sort(ranked_.begin(), second, most_first)
                : std::sort(second, ranked_.end(), most_first);
    });
  }

  /// Returns how many pairs changed sides.
  std::size_t swap_while_it_saves(std::span<NodeId> part, std::size_t middle) {
    std::size_t pairs = 0;
    while (pairs < middle && ranked_[pairs].gain + ranked_[middle + pairs].gain > 0) ++pairs;
    for (std::size_t i = 0; i < pairs; ++i) {
      const NodeId first = ranked_[i].vertex;
      const NodeId second = ranked_[middle + i].vertex;
      move(first, 0, -1);
      move(first, 1, 1);
      move(second, 1, -1);
      move(second, 0, 1);
      std::swap(ranked_[i].vertex, ranked_[middle + i].vertex);
    }
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = ranked_[i].vertex;
    return pairs;
  }

  const Transpose& edges_;
  const std::span<const float> costs_;
  std::vector<Sides> sides_;
  std::vector<Ranked> ranked_;
};

/// Places of an order that have yet to be divided.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
};
using Parts = std::vector<Part>;

Parts halves_of(const Parts& parts) {
  Parts halves;
  for (const auto& [begin, end] : parts) {
    const std::size_t middle = begin + (end - begin) / 2;
    for (const Part half : {Part{begin, middle}, Part{middle, end}}) {
      if (half.end - half.begin > kSmallestPart) halves.push_back(half);
    }
  }
  return halves;
}

/// Divides `parts` and the parts that result, some levels deep; then `parts` holds what is left to
/// be divided. Returns the order in the numbers of `graph`.
std::vector<NodeId> divide_levels(const AdjacencyView& graph, Parts& parts,
                                  const OrderOptions& options, Progress& progress) {
  const unsigned threads = resolve_threads(options.threads);
  const Transpose edges(graph);
  const std::vector<float> costs = costs_of_ids(graph.row_capacity);
  std::vector<Bisector> bisectors(threads, Bisector(edges, costs, graph.count));
  std::vector<NodeId> order(graph.count);
  std::iota(order.begin(), order.end(), NodeId{0});
  for (int level = 0; level < kLevelsPerNumbering && !parts.empty(); ++level) {
    // With few large parts the threads share the work within each.
    const bool share = parts.size() < 2 * threads;
    parallel_for(parts.size(), 1, share ? 1 : threads,
                 [&](std::size_t i, std::size_t, unsigned worker) {
                   const auto [begin, end] = parts[i];
                   bisectors[worker].divide(std::span(order).subspan(begin, end - begin),
                                            share ? threads : 1);
                   progress.advance(end - begin);
                 });
    parts = halves_of(parts);
  }
  return order;
}

}  // namespace

std::vector<NodeId> bisection_order(const AdjacencyView& graph, const OrderOptions& options) {
  std::size_t levels = 0;
  while (graph.count >> levels > kSmallestPart) ++levels;
  Progress progress("ordering vertices", levels * graph.count, options.quiet, options.interrupted);
  std::vector<NodeId> order(graph.count);
  std::iota(order.begin(), order.end(), NodeId{0});
  Parts parts{{0, graph.count}};
  std::optional<Graph> renumbered;
  for (AdjacencyView view = graph;;) {
    const std::vector<NodeId> step = divide_levels(view, parts, options, progress);
    std::vector<NodeId> composed(order.size());
    for (std::size_t i = 0; i < step.size(); ++i) composed[i] = order[step[i]];
    order = std::move(composed);
    if (parts.empty()) return order;
    renumbered = reordered(view, step, options.threads);
    view = renumbered->view();
  }
}

Graph reordered(const AdjacencyView& graph, std::span<const NodeId> order, unsigned threads) {
  FARVEC_CHECK(order.size() == graph.count, "{} of {}", order.size(), graph.count);
  std::vector<NodeId> place(graph.count, kInvalidNode);
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<NodeId>(i);
  Graph result(graph.count, graph.row_capacity);
  result.entry = place[graph.entry];
  parallel_for(graph.count, kOrderRun, resolve_threads(threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 std::vector<NodeId> ids;
                 for (std::size_t i = begin; i < end; ++i) {
                   const NodeId* const row = graph.row(order[i]);
                   ids.assign(row, row + graph.degrees[order[i]]);
                   for (NodeId& id : ids) id = place[id];
                   std::sort(ids.begin(), ids.end());
                   result.set_neighbors(i, ids);
                 }
               });
  return result;
}

}  // namespace farvec::graph
