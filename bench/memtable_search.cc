// What a search of a memtable costs by comparing with every row and by its graph, and what linking
// a row costs, for growing numbers of rows.
//   build/release/bin/memtable_search --base base.u8bin --queries query.u8bin
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/stored_form.h"
#include "bench/run_bench.h"
#include "collection/memtable/memtable.h"
#include "dataset/vector_set.h"

namespace farvec {
namespace {

using collection::Memtable;
using collection::MemtableGraph;
using collection::MemtableGraphOptions;
using collection::MemtableScratch;

struct Asked {
  std::string base, queries, metric = "l2";
  std::uint32_t k = 10, max_queries = 500, rounds = 5;
  MemtableGraphOptions graph;
  std::vector<std::uint32_t> counts{1'000, 2'000, 5'000, 10'000, 20'000, 50'000};
  std::vector<std::uint32_t> lists{10, 16, 24, 32, 48, 64, 96, 128, 192};
  double recall = 0.99;
};

using Answers = std::vector<std::vector<graph::Neighbor>>;

/// Of the processor's time, which other programs on the machine do not add to.
double seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Microseconds of the processor's time for a query: the median of the rounds, with the least and
/// the most.
struct Times {
  double median = 0, least = 0, most = 0;
};

struct Measured {
  Times us;
  double distances = 0, hops = 0;
  Answers answers;
};

/// search(query vector, scratch) returns what was found.
template <typename Search>
Measured measure(const Asked& asked, const VectorView& queries, const Search& search) {
  Measured result;
  MemtableScratch scratch;
  std::vector<double> rounds;
  const auto n = static_cast<double>(queries.count);
  for (std::uint32_t round = 0; round < asked.rounds; ++round) {
    result.answers.clear();
    result.distances = result.hops = 0;
    const std::clock_t start = std::clock();
    for (std::size_t q = 0; q < queries.count; ++q) {
      result.answers.push_back(search(queries.row(q), scratch));
      result.distances += scratch.counts.distances / n;
      result.hops += scratch.counts.hops / n;
    }
    rounds.push_back(seconds_since(start) * 1e6 / n);
  }
  std::sort(rounds.begin(), rounds.end());
  result.us = {rounds[rounds.size() / 2], rounds.front(), rounds.back()};
  return result;
}

/// A neighbour that is as near as the farthest true one is one.
double recall(const Answers& found, const Answers& truth) {
  double hits = 0;
  for (std::size_t q = 0; q < truth.size(); ++q) {
    const float bound = truth[q].back().distance;
    hits += static_cast<double>(std::count_if(found[q].begin(), found[q].end(),
                                              [&](auto& near) { return near.distance <= bound; })) /
            static_cast<double>(truth[q].size());
  }
  return hits / static_cast<double>(truth.size());
}

Measured scan(const Asked& asked, const VectorView& rows, const VectorView& queries) {
  const auto count = static_cast<std::uint32_t>(rows.count);
  Memtable memtable({.metric = parse_metric(asked.metric),
                     .type = rows.type,
                     .dimension = rows.dimension,
                     .capacity = count,
                     .graph = asked.graph});
  memtable.append(rows, std::vector<std::uint64_t>(count));
  return measure(asked, queries, [&](const std::byte* vector, MemtableScratch& scratch) {
    const auto found =
        memtable.search({.vector = vector, .k = asked.k, .count = count, .out = RowSet()}, scratch);
    return std::vector<graph::Neighbor>(found.begin(), found.end());
  });
}

void print(const char* what, std::uint32_t list, const Measured& m, double found) {
  fmt::print("  {:<6} {:>5} {:>9.4f} {:>10.1f} {:>7.1f} {:>9.1f} {:>9.1f} {:>9.1f}\n", what, list,
             found, m.distances, m.hops, m.us.median, m.us.least, m.us.most);
}

void run_count(const Asked& asked, const VectorView& rows, const VectorView& queries) {
  const auto count = static_cast<std::uint32_t>(rows.count);
  MemtableGraph graph(rows, parse_metric(asked.metric), asked.graph);
  collection::LinkScratch scratch;
  const std::clock_t start = std::clock();
  while (graph.link_next(count, scratch)) {
  }
  const double link_us = seconds_since(start) * 1e6 / count;
  fmt::print("{} rows: linked in {:.1f} us and {:.0f} distances each, graph of {:.1f} MB\n", count,
             link_us, static_cast<double>(scratch.search.counts.distances) / count,
             static_cast<double>(graph.dram_bytes()) / 1e6);
  fmt::print("  {:<6} {:>5} {:>9} {:>10} {:>7} {:>9} {:>9} {:>9}\n", "", "list", "recall",
             "distances", "hops", "us", "least", "most");
  const Measured truth = scan(asked, rows, queries);
  print("scan", 0, truth, 1);
  for (const std::uint32_t list : asked.lists) {
    const auto m = measure(asked, queries, [&](const std::byte* vector, MemtableScratch& s) {
      s.counts = {};
      graph.search({.vector = vector, .k = asked.k, .list = list, .count = count, .out = RowSet()},
                   s);
      std::vector<graph::Neighbor> found;
      for (const auto& near : s.met) {
        if (found.size() < asked.k) found.push_back({near.id, near.distance});
      }
      return found;
    });
    const double share = recall(m.answers, truth.answers);
    print("graph", list, m, share);
    if (share >= asked.recall) break;
  }
}

void run(const Asked& asked) {
  const std::uint32_t most = *std::max_element(asked.counts.begin(), asked.counts.end());
  const auto base = dataset::load(asked.base, {.max_rows = most});
  const auto queries = dataset::load(asked.queries, {.max_rows = asked.max_queries});
  const VectorView all = base.view();
  if (queries.type() != base.type() || queries.dimension() != base.dimension()) {
    throw Error("the queries are not of the type and dimension of the base");
  }
  if (stored_type(parse_metric(asked.metric), all.type) != all.type ||
      parse_metric(asked.metric) == Metric::cosine) {
    throw Error("--metric {}: use l2 or ip, which take rows as files have them", asked.metric);
  }
  fmt::print("{} {}, {}, degree {}, link list {}, recall@{} of {} queries, {} rounds\n",
             all.dimension, to_string(all.type), asked.metric, asked.graph.degree,
             asked.graph.link_list, asked.k, queries.count(), asked.rounds);
  for (const std::uint32_t count : asked.counts) {
    if (count > all.count) continue;
    run_count(asked, packed_view(all.data, count, all.dimension, all.type), queries.view());
  }
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Asked asked;
  farvec::CommandLine app("What searching and linking a memtable cost");
  app.add_option("--base", asked.base, "Vectors").required();
  app.add_option("--queries", asked.queries, "Of the same type and dimension").required();
  app.add_option("--metric", asked.metric, "l2 or ip").show_default();
  app.add_option("--k", asked.k).show_default();
  app.add_option("--max-queries", asked.max_queries).show_default();
  app.add_option("--rounds", asked.rounds, "Of all queries").show_default();
  app.add_option("--degree", asked.graph.degree).show_default();
  app.add_option("--link-list", asked.graph.link_list).show_default();
  app.add_option("--counts", asked.counts, "Rows");
  app.add_option("--lists", asked.lists, "Of searches, ascending");
  app.add_option("--recall", asked.recall, "The first list that reaches it is the last")
      .show_default();
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(asked); });
}
