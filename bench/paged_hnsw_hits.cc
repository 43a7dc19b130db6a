// What partitions and insert pages do for the buffer of a paged HNSW on a disk: exact counts of
// one fiber, one query at a time.
//   build/release/bin/paged_hnsw_hits --data base.fbin --queries query.fbin --metric l2
//     --folder /tmp/hits --nodes 1,8,64 --share 0,0.3,0.9 --built 0.9 --buffer 0.1
// Builds a graph over the first rows in memory and lays it out; inserts the others, whose pages are
// chosen by partitions (a share of which has insert pages); opens it with a buffer of a share of
// its bytes; searches. Prints for each: pages after the layout and those added, how inserts were
// placed, hits of the inserts (with the same buffer) and of the searches, pages asked by a search.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "bench/hnsw_in_memory.h"
#include "bench/run_bench.h"
#include "dataset/vector_set.h"
#include "indexing/source.h"
#include "ssd_baseline/paged/build/colocation.h"
#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/placement/partition_placement.h"
#include "ssd_baseline/paged/search/hnsw_searcher.h"

namespace farvec {
namespace {

using paged::PagedHnsw;

constexpr std::uint64_t kRoomyBuffer = 1ull << 30;
constexpr Ticks kForever = coroutines::kNoDeadline;

struct Arguments {
  std::string data, queries, metric = "l2", folder;
  std::vector<std::uint32_t> nodes{1, 8, 64};
  std::vector<double> shares{0, 0.3, 0.9};
  double built = 0.9, buffer = 0.1;
  HnswInMemory hnsw;
};

/// Of all layers, and of inserts what their selections compare.
paged::FetchCounts all_pages(const paged::HnswCounts& counts) {
  paged::FetchCounts sum = pages_of(counts);
  sum += counts.selection;
  return sum;
}

class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments),
        metric_(parse_metric(arguments.metric)),
        data_(indexing::stored_rows(dataset::load(arguments.data), metric_, 1)),
        queries_(indexing::stored_rows(dataset::load(arguments.queries), metric_, 1)),
        built_(data_.view()) {
    if (queries_.dimension() != data_.dimension() || queries_.type() != data_.type()) {
      throw Error("'{}' and '{}' do not fit together", arguments.data, arguments.queries);
    }
    built_.count = static_cast<std::size_t>(arguments.built * static_cast<double>(data_.count()));
  }

  void run() {
    const graph::HnswGraph graph = arguments_.hnsw.build(built_, metric_);
    fmt::print("{:>5} {:>5} {:>7} {:>6} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "nodes", "share",
               "pages", "added", "placed", "extended", "fallback", "inserts", "searches", "asked");
    for (const std::uint32_t nodes : arguments_.nodes) {
      for (const double share : arguments_.shares) measure(graph, nodes, share);
    }
  }

 private:
  paged::PageStoreOptions store(std::uint64_t buffer_bytes) const {
    paged::PageStoreOptions options;
    options.folder = arguments_.folder;
    options.page_bytes = arguments_.hnsw.page_bytes;
    options.buffer_bytes = buffer_bytes;
    return options;
  }
  std::uint64_t buffer_bytes(std::uint32_t pages) const {
    return static_cast<std::uint64_t>(arguments_.buffer * pages) * arguments_.hnsw.page_bytes;
  }

  /// Answers with the number of pages.
  std::uint32_t lay_out(const graph::HnswGraph& graph, std::uint32_t nodes, double share) const {
    const layout::HnswShape shape = arguments_.hnsw.shape(built_, metric_);
    const paged::Colocation colocation(graph, shape, {.partition_nodes = nodes});
    paged::HnswConfig config = arguments_.hnsw.config(built_, metric_);
    config.most_insert_pages = 0;  // the share does not change
    const auto hnsw =
        PagedHnsw::create(store(kRoomyBuffer), config, {built_, {}, &graph, colocation.order()});
    create_partition_map(*hnsw,
                         choose_insert_partitions(colocation.plan(), graph.base().view(), share));
    return hnsw->store().pages();
  }

  void measure(const graph::HnswGraph& graph, std::uint32_t nodes, double share) const {
    std::filesystem::remove_all(arguments_.folder);
    const std::uint32_t pages = lay_out(graph, nodes, share);
    paged::PartitionPlacementCounts placed;
    const auto inserts = insert_rest(pages, placed);
    std::uint32_t pages_after = 0;
    const auto searches = search_all(pages_after);
    fmt::print("{:5} {:5.2f} {:7} {:6} {:7} {:8} {:8} {:8.4f} {:8.4f} {:8.1f}\n", nodes, share,
               pages, pages_after - pages, placed.placed, placed.extended, placed.fallback,
               hit_ratio(inserts), hit_ratio(searches),
               static_cast<double>(searches.asked) / static_cast<double>(queries_.count()));
    std::fflush(stdout);
    std::filesystem::remove_all(arguments_.folder);
  }

  paged::FetchCounts insert_rest(std::uint32_t pages,
                                 paged::PartitionPlacementCounts& placed) const {
    const auto hnsw = PagedHnsw::open(store(buffer_bytes(pages)));
    paged::FetchCounts counts;
    run_on_pages(hnsw->store(), [&](paged::PageFetcher& fetcher) {
      paged::PartitionPlacement policy(*hnsw, fetcher);
      paged::HnswWriter writer(*hnsw, fetcher, {{}, &policy});
      for (std::size_t i = built_.count; i < data_.count(); ++i) {
        const auto done = writer.insert(static_cast<NodeId>(i),
                                        {data_.view().row(i), built_.row_bytes()}, kForever);
        if (!done.ok()) throw Error("row {}: {}", i, done.status().message());
      }
      counts = all_pages(writer.counts());
      placed = policy.counts();
    });
    return counts;
  }

  paged::FetchCounts search_all(std::uint32_t& pages) const {
    pages = PagedHnsw::open(store(kRoomyBuffer))->store().pages();
    const auto hnsw = PagedHnsw::open(store(buffer_bytes(pages)));
    paged::FetchCounts counts;
    run_on_pages(hnsw->store(), [&](paged::PageFetcher& fetcher) {
      paged::HnswSearcher searcher(*hnsw, fetcher);
      for (std::size_t q = 0; q < queries_.count(); ++q) {
        const Status status = searcher.search(
            {{queries_.view().row(q), built_.row_bytes()}, arguments_.hnsw.ef_search, kForever});
        if (!status.ok()) throw Error("query {}: {}", q, status.message());
      }
      counts = all_pages(searcher.counts());
    });
    return counts;
  }

  const Arguments& arguments_;
  const Metric metric_;
  const dataset::VectorSet data_;
  const dataset::VectorSet queries_;
  VectorView built_;
};

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments arguments;
  farvec::CommandLine app("Counts what partitions and insert pages do for a buffer");
  app.add_option("--data", arguments.data, "Vectors").required();
  app.add_option("--queries", arguments.queries, "Queries").required();
  app.add_option("--folder", arguments.folder, "Made and deleted again").required();
  app.add_option("--metric", arguments.metric).show_default();
  app.add_option("--nodes", arguments.nodes, "In a partition").comma_separated().show_default();
  app.add_option("--share", arguments.shares, "Of partitions with insert pages").comma_separated();
  app.add_option("--built", arguments.built, "Share of the rows built in memory").show_default();
  app.add_option("--buffer", arguments.buffer, "Share of the pages").show_default();
  arguments.hnsw.add_options(app);
  return farvec::run_bench(app, argc, argv, [&] { farvec::Bench(arguments).run(); });
}
