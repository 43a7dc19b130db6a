// What partitions of an HNSW graph do for a buffer of pages, counted over a graph in memory: no
// store, no disk, so the counts are exact.
//   build/release/bin/partition_hits --data base.fbin --queries query.fbin --metric l2
//     --nodes 1,8,64,256 --buffer 0.1,0.2,0.5 --ef-search 40
// Per number of nodes in a partition: pages and how full they are, the overlap of pages and
// neighbours (OR(G) of Starling), pages that a search asks for, and the share of them that a buffer
// of each size holds when all queries run in turn (the least recently used page goes). A vertex
// that is expanded asks for its page and for those of its unvisited neighbours, each once.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "bench/hnsw_in_memory.h"
#include "bench/recently_used.h"
#include "bench/recorded_search.h"
#include "bench/run_bench.h"
#include "dataset/vector_set.h"
#include "indexing/source.h"
#include "ssd_baseline/paged/build/colocation.h"

namespace farvec {
namespace {

struct Arguments {
  std::string data, queries, metric = "l2";
  std::vector<std::uint32_t> nodes{1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::vector<double> buffers{0.1, 0.2, 0.5};
  HnswInMemory hnsw;
};

/// All batches of all queries, in turn.
RecordedSearch::Batches record_searches(const graph::HnswGraph& graph, const VectorView& data,
                                        const VectorView& queries, const Arguments& arguments) {
  RecordedSearch search(graph, data, parse_metric(arguments.metric), arguments.hnsw.ef_search);
  RecordedSearch::Batches all;
  for (std::size_t q = 0; q < queries.count; ++q) {
    std::ranges::move(search.run(queries.row(q)), std::back_inserter(all));
  }
  return all;
}

/// The pages of the batches, each once in a batch.
std::vector<std::uint32_t> pages_asked(const RecordedSearch::Batches& batches,
                                       const std::vector<std::uint32_t>& page_of) {
  std::vector<std::uint32_t> asked, pages;
  for (const auto& batch : batches) {
    pages.clear();
    for (const NodeId id : batch) pages.push_back(page_of[id]);
    std::sort(pages.begin(), pages.end());
    asked.insert(asked.end(), pages.begin(), std::unique(pages.begin(), pages.end()));
  }
  return asked;
}

double hit_share(const std::vector<std::uint32_t>& asked, std::size_t pages, double share) {
  RecentlyUsed buffer(pages, static_cast<std::size_t>(share * static_cast<double>(pages)));
  std::uint64_t hits = 0;
  for (const std::uint32_t page : asked) hits += buffer.touch(page) ? 1 : 0;
  return static_cast<double>(hits) / static_cast<double>(asked.size());
}

void run(const Arguments& arguments) {
  const Metric metric = parse_metric(arguments.metric);
  const dataset::VectorSet data = indexing::stored_rows(dataset::load(arguments.data), metric, 1);
  const dataset::VectorSet queries =
      indexing::stored_rows(dataset::load(arguments.queries), metric, 1);
  if (queries.dimension() != data.dimension() || queries.type() != data.type()) {
    throw Error("'{}' and '{}' have different types or dimensions", arguments.data,
                arguments.queries);
  }
  const graph::HnswGraph graph = arguments.hnsw.build(data.view(), metric);
  const layout::HnswShape shape = arguments.hnsw.shape(data.view(), metric);
  const auto batches = record_searches(graph, data.view(), queries.view(), arguments);
  const layout::RecordCosts costs = paged::hnsw_record_costs(graph, shape);

  fmt::print("{:>5} {:>8} {:>7} {:>6} {:>8} {:>8}", "nodes", "pages", "rows", "fill", "overlap",
             "asked");
  for (const double share : arguments.buffers) fmt::print(" {:>7}", fmt::format("at {}", share));
  fmt::print("\n");
  for (const std::uint32_t nodes : arguments.nodes) {
    const paged::Colocation colocation(graph, shape, {.partition_nodes = nodes});
    const layout::PagePlan& plan = colocation.plan().pages;
    const auto asked = pages_asked(batches, layout::pages_of(plan, costs));
    std::uint64_t used = 0;
    for (const std::uint16_t bytes : costs.bytes) used += bytes;
    const auto pages = static_cast<double>(plan.pages());
    fmt::print("{:5} {:8} {:7.2f} {:6.3f} {:8.4f} {:8.1f}", nodes, plan.pages(),
               static_cast<double>(graph.count()) / pages,
               static_cast<double>(used) / (pages * costs.page_capacity),
               layout::page_overlap(plan, graph.base().view()),
               static_cast<double>(asked.size()) / static_cast<double>(queries.count()));
    for (const double share : arguments.buffers) {
      fmt::print(" {:7.4f}", hit_share(asked, plan.pages(), share));
    }
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments arguments;
  farvec::CommandLine app("Counts what partitions of an HNSW graph do for a buffer of pages");
  app.add_option("--data", arguments.data, "Vectors").required();
  app.add_option("--queries", arguments.queries, "Queries").required();
  app.add_option("--metric", arguments.metric).show_default();
  app.add_option("--nodes", arguments.nodes, "In a partition").comma_separated().show_default();
  app.add_option("--buffer", arguments.buffers, "Shares of the pages").comma_separated();
  arguments.hnsw.add_options(app);
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(arguments); });
}
