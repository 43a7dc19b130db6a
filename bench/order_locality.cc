// What an order of inserts does for a buffer, told without an index: from true neighbours alone.
//   farvec dataset groundtruth --data base.u8bin --queries base.u8bin --metric l2 --k 101
//     --out self.ibin
//   build/release/bin/order_locality --data base.u8bin --neighbors self.ibin
//     --order none,pca,kmeans,file:order.ibin --share 0.2
// Per order: the seconds that finding it took, the mean share of the true neighbours of an insert
// that are also those of the insert before, and what a buffer of the given share of all vertices
// (one to a page, the least recently used goes) would hit if each insert read its true neighbours.
#include <fmt/format.h>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "bench/recently_used.h"
#include "bench/run_bench.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"
#include "indexing/order/insertion_order.h"

namespace farvec {
namespace {

struct Arguments {
  std::string data, neighbors;
  std::vector<std::string> orders{"none", "first",  "centroid",  "random",
                                  "pca",  "kmeans", "pca+kmeans"};
  double share = 0.2;
  std::uint32_t threads = 1;
};

double mean_overlap(std::span<const NodeId> order, const dataset::GroundTruth& near) {
  std::vector<std::size_t> seen_at(near.queries, near.queries);
  std::uint64_t shared = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const NodeId id : near.ids_of(order[i])) {
      shared += i > 0 && seen_at[id] == i - 1 ? 1 : 0;
      seen_at[id] = i;
    }
  }
  return static_cast<double>(shared) / static_cast<double>((order.size() - 1) * near.k);
}

double hit_ratio(std::span<const NodeId> order, const dataset::GroundTruth& near, double share) {
  const auto capacity = static_cast<std::size_t>(share * static_cast<double>(near.queries));
  RecentlyUsed recent(near.queries, capacity);
  std::uint64_t hits = 0;
  for (const NodeId row : order) {
    for (const NodeId id : near.ids_of(row)) hits += recent.touch(id) ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(order.size() * near.k);
}

void run(const Arguments& arguments) {
  const dataset::VectorSet rows = dataset::load(arguments.data);
  const dataset::GroundTruth near = dataset::read_groundtruth(arguments.neighbors);
  if (near.queries != rows.count() || rows.count() < 2) {
    throw Error("'{}' has the neighbours of {} rows, not of {}", arguments.neighbors, near.queries,
                rows.count());
  }
  fmt::print("{:24} {:>9} {:>9} {:>9}\n", "order", "seconds", "overlap", "hits");
  for (const std::string& word : arguments.orders) {
    indexing::OrderOptions options = indexing::parse_order(word);
    options.threads = arguments.threads;
    const indexing::RowOrder order = indexing::order_rows(rows.view(), options);
    fmt::print("{:24} {:9.3f} {:9.4f} {:9.4f}\n", word, order.seconds,
               mean_overlap(order.rows, near), hit_ratio(order.rows, near, arguments.share));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments arguments;
  farvec::CommandLine app("What orders of inserts do for a buffer, from true neighbours alone");
  app.add_option("--data", arguments.data, "Vectors").required();
  app.add_option("--neighbors", arguments.neighbors, "Their own true neighbours").required();
  app.add_option("--order", arguments.orders, "Orders").comma_separated().show_default();
  app.add_option("--share", arguments.share, "Of all vertices, in the buffer").show_default();
  app.add_option("--threads", arguments.threads, "To find orders with").show_default();
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(arguments); });
}
