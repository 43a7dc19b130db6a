// What merges leave of a graph: rows come and go in rounds, each of them one merge, and the graph
// is searched beside one that is built from nothing over the same rows.
//   build/release/bin/vamana_merge --data base.u8bin --queries query.u8bin --metric l2
//     --base 200000 --insert 20000 --erase 20000 --rounds 5 --list 20,40,80 --rebuild
// Rows are taken in the order of the file; those that go are chosen at random among the live ones,
// or with --erase-near are the nearest to one of them chosen at random: a whole region goes. Prints
// per graph the seconds and the distances of its making, vertices that had to be made reachable,
// and per list recall@10, records read and neighbours scored per query. Searches are exact: no
// codes, width 1. All but the seconds is exact too.
#include "graph/vamana_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/random.h"
#include "bench/graph_judge.h"
#include "bench/run_bench.h"
#include "dataset/vector_set.h"
#include "distance/distance.h"
#include "indexing/source.h"

namespace farvec {
namespace {

struct Arguments {
  std::string data, queries, metric = "l2";
  std::uint64_t base = 200'000, insert = 20'000, erase = 20'000;
  std::uint32_t rounds = 5;
  bool erase_near = false, rebuild = false;
  std::vector<std::uint32_t> lists{20, 40, 80};
  std::uint64_t seed = 1;
  graph::VamanaOptions graph{.quiet = true};
};

/// Live rows, which become others round by round.
class LiveRows {
 public:
  LiveRows(const Arguments& arguments, Metric metric)
      : arguments_(arguments),
        metric_(metric),
        all_(indexing::stored_rows(dataset::load(arguments.data), metric, 1)),
        random_(arguments.seed),
        next_(arguments.base),
        live_(next_) {
    if (next_ + arguments.rounds * arguments.insert > all_.count() || next_ < arguments.erase) {
      throw Error("'{}' has too few rows for so many rounds", arguments.data);
    }
    std::iota(live_.begin(), live_.end(), std::size_t{0});
  }

  dataset::VectorSet copy() {
    dataset::VectorSet rows(live_.size(), all_.dimension(), all_.type());
    for (std::size_t i = 0; i < live_.size(); ++i) {
      std::memcpy(rows.mutable_row(i), all_.view().row(live_[i]), all_.view().row_bytes());
    }
    return rows;
  }
  /// Positions among the live rows that are out from now on; rows that came follow the others.
  RowSet change() {
    RowSet out = RowSet().with(chosen());
    std::size_t position = 0;
    std::erase_if(live_,
                  [&](std::size_t) { return out.contains(static_cast<NodeId>(position++)); });
    for (std::size_t i = 0; i < arguments_.insert; ++i) live_.push_back(next_++);
    return out;
  }

 private:
  std::vector<NodeId> chosen() {
    std::vector<NodeId> ids(live_.size());
    std::iota(ids.begin(), ids.end(), NodeId{0});
    if (arguments_.erase_near) {
      const VectorView rows = all_.view();
      const auto pair = distance::pair_kernel(metric_, rows.type, rows.dimension);
      const std::byte* center = rows.row(live_[random_.below(live_.size())]);
      std::vector<float> distances(ids.size());
      for (const NodeId id : ids) distances[id] = pair(center, rows.row(live_[id]), rows.dimension);
      std::sort(ids.begin(), ids.end(), [&](NodeId a, NodeId b) {
        return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
      });
    } else {
      for (std::size_t i = 0; i < arguments_.erase; ++i) {
        std::swap(ids[i], ids[i + random_.below(ids.size() - i)]);
      }
    }
    ids.resize(arguments_.erase);
    return ids;
  }

  const Arguments& arguments_;
  const Metric metric_;
  const dataset::VectorSet all_;
  Random random_;
  std::size_t next_;
  std::vector<std::size_t> live_;  ///< rows of all_, by position
};

void run(const Arguments& arguments) {
  const Metric metric = parse_metric(arguments.metric);
  LiveRows live(arguments, metric);
  Judge judge(arguments.queries, metric, arguments.lists);
  Judge::print_header();
  graph::VamanaStats stats;
  dataset::VectorSet rows = live.copy();
  graph::Graph graph = graph::build_vamana(rows.view(), metric, arguments.graph, &stats);
  judge.set_rows(rows.view());
  judge.print("base", graph, stats);
  for (std::uint32_t round = 1; round <= arguments.rounds; ++round) {
    const RowSet out = live.change();
    rows = live.copy();
    judge.set_rows(rows.view());
    graph =
        graph::merge_vamana({std::move(graph), out, rows.view()}, metric, arguments.graph, &stats);
    judge.print(fmt::format("merged {}", round), graph, stats);
    if (!arguments.rebuild || round != arguments.rounds) continue;
    const graph::Graph rebuilt = graph::build_vamana(rows.view(), metric, arguments.graph, &stats);
    judge.print("rebuilt", rebuilt, stats);
  }
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments arguments;
  farvec::CommandLine app("What merges leave of a graph, beside one that is built from nothing");
  app.add_option("--data", arguments.data, "Vectors").required();
  app.add_option("--queries", arguments.queries, "Vectors to search for").required();
  app.add_option("--metric", arguments.metric).show_default();
  app.add_option("--base", arguments.base, "Rows of the first graph").show_default();
  app.add_option("--insert", arguments.insert, "Rows that come in a round").show_default();
  app.add_option("--erase", arguments.erase, "Rows that go in a round").show_default();
  app.add_flag("--erase-near", arguments.erase_near, "Those that go are near each other");
  app.add_option("--rounds", arguments.rounds, "Merges").show_default();
  app.add_flag("--rebuild", arguments.rebuild, "Also build from nothing after the last round");
  app.add_option("--list", arguments.lists, "Of searches").comma_separated().show_default();
  app.add_option("--seed", arguments.seed, "Of the rows that go").show_default();
  app.add_option("--degree", arguments.graph.degree).show_default();
  app.add_option("--build-list", arguments.graph.list).show_default();
  app.add_option("--alpha", arguments.graph.alpha).show_default();
  app.add_option("--threads", arguments.graph.threads).show_default();
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(arguments); });
}
