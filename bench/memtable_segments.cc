// Segments whose graph was made from that of a memtable, beside those that are built from nothing
// of the same rows: recall, reads, and the distances that making them takes.
//   build/release/bin/memtable_segments --data base.u8bin --queries query.u8bin --metric l2
//     --rows 16384,65536 --erase 10 --list 20,40,80
// Rows are taken in the order of the file; of every `erase` of them one is out. Searches are exact:
// no codes, width 1. All but the seconds is exact too; linking is of one thread.
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "bench/graph_judge.h"
#include "bench/run_bench.h"
#include "collection/memtable/memtable.h"
#include "graph/vamana_merge.h"

namespace farvec {
namespace {

using collection::MemtableGraph;

struct Arguments {
  std::string data, queries, metric = "l2";
  std::vector<std::uint32_t> rows{16'384, 65'536};
  std::uint32_t erase = 0, link_list = collection::MemtableGraphOptions().link_list;
  std::vector<std::uint32_t> lists{20, 40, 80};
  graph::VamanaOptions graph{.quiet = true};
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One of `erase`, none where that is 0.
RowSet rows_out(std::uint32_t erase, std::size_t count) {
  std::vector<NodeId> rows;
  for (NodeId row = 0; erase > 0 && row < count; row += erase) rows.push_back(row);
  return RowSet().with(rows);
}

dataset::VectorSet without(const VectorView& rows, const RowSet& out) {
  dataset::VectorSet live(rows.count - out.count(), rows.dimension, rows.type);
  std::size_t next = 0;
  for (NodeId row = 0; row < rows.count; ++row) {
    if (!out.contains(row)) std::memcpy(live.mutable_row(next++), rows.row(row), rows.row_bytes());
  }
  return live;
}

graph::Graph linked(const Arguments& asked, const VectorView& rows, graph::VamanaStats& stats) {
  MemtableGraph graph(rows, parse_metric(asked.metric), {.link_list = asked.link_list});
  collection::LinkScratch scratch;
  const auto start = std::chrono::steady_clock::now();
  while (graph.link_next(static_cast<std::uint32_t>(rows.count), scratch)) {
  }
  stats.seconds = seconds_since(start);
  stats.distances = scratch.search.counts.distances;
  return graph.copy();
}

void compare(const Arguments& asked, const VectorView& rows, Judge& judge) {
  const Metric metric = parse_metric(asked.metric);
  const RowSet out = rows_out(asked.erase, rows.count);
  const dataset::VectorSet live = without(rows, out);
  judge.set_rows(live.view());
  graph::VamanaStats stats;
  const graph::Graph built = graph::build_vamana(live.view(), metric, asked.graph, &stats);
  judge.print("from nothing", built, stats);
  graph::VamanaStats links;
  graph::Graph former = linked(asked, rows, links);
  fmt::print("{:12} {:8} {:7} {:8.2f} {:8.0f}\n", "links", rows.count, "", links.seconds,
             static_cast<double>(links.distances) / 1e6);
  const graph::Graph made =
      graph::merge_vamana({std::move(former), out, live.view()}, metric, asked.graph, &stats);
  judge.print("of links", made, stats);
}

void run(const Arguments& asked) {
  const std::uint32_t most = *std::max_element(asked.rows.begin(), asked.rows.end());
  const Metric metric = parse_metric(asked.metric);
  const auto all = indexing::stored_rows(dataset::load(asked.data, {.max_rows = most}), metric, 1);
  Judge judge(asked.queries, metric, asked.lists);
  Judge::print_header();
  for (const std::uint32_t count : asked.rows) {
    const VectorView view = all.view();
    compare(asked, packed_view(view.data, count, view.dimension, view.type), judge);
  }
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments asked;
  farvec::CommandLine app("Segments of a memtable's graph, beside those built from nothing");
  app.add_option("--data", asked.data, "Vectors").required();
  app.add_option("--queries", asked.queries, "Vectors to search for").required();
  app.add_option("--metric", asked.metric).show_default();
  app.add_option("--rows", asked.rows, "Of memtables").comma_separated().show_default();
  app.add_option("--erase", asked.erase, "Of so many rows one is out; 0: none").show_default();
  app.add_option("--link-list", asked.link_list, "Of the memtable").show_default();
  app.add_option("--list", asked.lists, "Of searches").comma_separated().show_default();
  app.add_option("--degree", asked.graph.degree).show_default();
  app.add_option("--build-list", asked.graph.list).show_default();
  app.add_option("--alpha", asked.graph.alpha).show_default();
  app.add_option("--threads", asked.graph.threads).show_default();
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(asked); });
}
