// What a clustering costs a search, without the rest of the system: recall against clusters probed,
// vectors scanned and requests, by brute force over the memberships.
//   build/release/bin/cluster_recall --data base.u8bin --queries query.u8bin --truth gt.ibin
//     --clusters 8000 --replicas 1,2,4,8
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/parallel.h"
#include "bench/run_bench.h"
#include "cluster/centroid_index.h"
#include "cluster/clustering.h"
#include "cluster/grouping.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"

namespace farvec {
namespace {

constexpr std::uint32_t kK = 10;

struct Arguments {
  std::string data, queries, truth;
  std::size_t first_query = 0, query_count = 0;
  std::vector<std::uint32_t> clusters{8000}, replicas{1, 8};
  std::vector<float> ratios{cluster::ClusteringOptions{}.closure_ratio};
  std::vector<float> factors{cluster::ClusteringOptions{}.rng_factor};
  std::vector<float> balances{cluster::ClusteringOptions{}.balance};
  std::vector<double> targets{0.90, 0.95};
  std::vector<std::uint32_t> refinements{cluster::ClusteringOptions{}.refinements};
  std::size_t sample = 0;
  std::uint32_t max_probe = 512;
};

/// Means over all queries after probing p clusters, at [p].
struct Curves {
  explicit Curves(std::uint32_t max_probe)
      : recall(max_probe + 2, 0),
        scanned(max_probe + 2, 0),
        distinct(max_probe + 2, 0),
        strays(max_probe + 2, 0) {}

  std::vector<double> recall;    ///< share of the k nearest
  std::vector<double> scanned;   ///< members of the probed clusters, replicas counted each time
  std::vector<double> distinct;  ///< different vectors among them
  std::vector<double> strays;    ///< of these, whose home is not probed
};

/// Which vectors every cluster holds.
struct Postings {
  explicit Postings(const cluster::Clustering& clustering) : lists(clustering.count()) {
    const MembershipView membership = clustering.membership();
    for (std::size_t v = 0; v < membership.count(); ++v) {
      for (const ClusterId c : membership.of(v)) lists[c].push_back(static_cast<NodeId>(v));
    }
  }
  std::vector<std::vector<NodeId>> lists;
};

/// Adds one query's counts to the curves as differences between p - 1 and p.
class QueryCounter {
 public:
  QueryCounter(const cluster::Clustering& clustering, const Postings& postings,
               const std::vector<ClusterId>& homes, std::uint32_t max_probe)
      : membership_(clustering.membership()),
        postings_(postings),
        homes_(homes),
        max_probe_(max_probe),
        rank_(clustering.count()),
        seen_(membership_.count(), 0) {}

  void add(const std::vector<cluster::NearCluster>& order, std::span<const NodeId> nearest,
           Curves& out) {
    ++query_;
    std::fill(rank_.begin(), rank_.end(), max_probe_ + 1);
    for (std::uint32_t i = 0; i < order.size(); ++i) rank_[order[i].cluster] = i + 1;
    std::vector<std::uint32_t> found;
    for (const NodeId v : nearest) {
      std::uint32_t best = max_probe_ + 1;
      for (const ClusterId c : membership_.of(v)) best = std::min(best, rank_[c]);
      found.push_back(best);
    }
    std::sort(found.begin(), found.end());  // ties with the k-th may stand for each other
    for (std::uint32_t i = 0; i < kK; ++i) out.recall[found[i]] += 1.0 / kK;
    for (std::uint32_t i = 0; i < order.size(); ++i) count_members(order[i].cluster, i + 1, out);
  }

 private:
  void count_members(ClusterId cluster, std::uint32_t rank, Curves& out) {
    out.scanned[rank] += static_cast<double>(postings_.lists[cluster].size());
    for (const NodeId v : postings_.lists[cluster]) {
      if (std::exchange(seen_[v], query_) == query_) continue;
      out.distinct[rank] += 1;
      const std::uint32_t home = rank_[homes_[v]];
      if (home <= rank) continue;
      out.strays[rank] += 1;
      out.strays[home] -= 1;
    }
  }

  const MembershipView membership_;
  const Postings& postings_;
  const std::vector<ClusterId>& homes_;
  const std::uint32_t max_probe_;
  std::vector<std::uint32_t> rank_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t query_ = 0;
};

void sum_up(std::vector<double>& differences, double queries) {
  double sum = 0;
  for (double& value : differences) value = sum += value / queries;
}

/// The true k nearest and all that tie with the last of them.
std::span<const NodeId> nearest_of(const dataset::GroundTruth& truth, std::size_t query) {
  const auto distances = truth.distances_of(query);
  std::size_t count = kK;
  while (count < truth.k && distances[count] <= distances[kK - 1]) ++count;
  return truth.ids_of(query).first(count);
}

Curves measure(const Arguments& arguments, const cluster::Clustering& clustering,
               const VectorView& queries, const dataset::GroundTruth& truth) {
  const auto probe =
      static_cast<std::uint32_t>(std::min<std::size_t>(arguments.max_probe, clustering.count()));
  const Postings postings(clustering);
  const std::vector<ClusterId> homes =
      cluster::group_by_frequency(clustering.membership(), {}, resolve_threads(0));
  cluster::CentroidIndex index(
      {Metric::l2, queries.type, queries.dimension, clustering.space_dimension,
       clustering.centroids,
       cluster::build_centroid_graph(clustering.centroids, clustering.space_dimension, 1, 0)},
      resolve_threads(0));
  const unsigned threads = resolve_threads(0);
  std::vector<QueryCounter> counters(threads, QueryCounter(clustering, postings, homes, probe));
  std::vector<cluster::CentroidScratch> scratch(threads);
  std::vector<Curves> curves(threads, Curves(probe));
  parallel_for(queries.count, 16, threads, [&](std::size_t begin, std::size_t end, unsigned w) {
    for (std::size_t q = begin; q < end; ++q) {
      index.search(queries.row(q), probe, scratch[w]);
      counters[w].add(scratch[w].found, nearest_of(truth, arguments.first_query + q), curves[w]);
    }
  });
  auto merge = [&](std::vector<double> Curves::*member) {
    for (unsigned w = 1; w < threads; ++w) {
      for (std::size_t p = 0; p < (curves[0].*member).size(); ++p) {
        (curves[0].*member)[p] += (curves[w].*member)[p];
      }
    }
    sum_up(curves[0].*member, static_cast<double>(queries.count));
  };
  merge(&Curves::recall);
  merge(&Curves::scanned);
  merge(&Curves::distinct);
  merge(&Curves::strays);
  return curves[0];
}

void print(const Arguments& arguments, const cluster::ClusteringOptions& options,
           const cluster::ClusteringStats& stats, const Curves& curves, std::size_t rows) {
  fmt::print(
      "clusters={} R={} ratio={:.3f} rng={} balance={}: {:.2f} copies, own <= {}, all <= {}, "
      "displaced {:.1f}%, refilled {}, {:.1f} + {:.1f} s\n",
      options.clusters, options.replicas, stats.closure_ratio, options.rng_factor, options.balance,
      static_cast<double>(stats.memberships) / static_cast<double>(rows), stats.largest_own,
      stats.largest_cluster,
      100.0 * static_cast<double>(stats.displaced) / static_cast<double>(rows), stats.refilled,
      stats.training_seconds, stats.assignment_seconds);
  for (const double target : arguments.targets) {
    std::size_t p = 1;
    while (p + 1 < curves.recall.size() && curves.recall[p] < target) ++p;
    if (p + 1 == curves.recall.size()) {
      fmt::print("  recall {:.3f} needs more than {} clusters\n", target, p - 1);
      continue;
    }
    fmt::print(
        "  recall {:.3f}: probe {:4} scanned {:7.0f} distinct {:7.0f} strays {:7.0f} "
        "requests {:7.0f} ({:.1f}% fewer than addresses)\n",
        curves.recall[p], p, curves.scanned[p], curves.distinct[p], curves.strays[p],
        curves.strays[p] + static_cast<double>(p),
        100.0 * (1 - (curves.strays[p] + static_cast<double>(p)) / curves.scanned[p]));
  }
  std::fflush(stdout);
}

/// Every combination of the lists. With one replica neither ratio nor factor has an effect.
std::vector<cluster::ClusteringOptions> combinations(const Arguments& arguments) {
  std::vector<cluster::ClusteringOptions> all(1);
  all[0].quiet = true;
  all[0].sample = arguments.sample;
  auto multiply = [&](const auto& values, auto member, bool replicas_only) {
    std::vector<cluster::ClusteringOptions> next;
    for (cluster::ClusteringOptions options : all) {
      for (const auto& value : values) {
        options.*member = value;
        next.push_back(options);
        if (replicas_only && options.replicas == 1) break;
      }
    }
    all = std::move(next);
  };
  using Options = cluster::ClusteringOptions;
  multiply(arguments.clusters, &Options::clusters, false);
  multiply(arguments.refinements, &Options::refinements, false);
  multiply(arguments.balances, &Options::balance, false);
  multiply(arguments.replicas, &Options::replicas, false);
  multiply(arguments.ratios, &Options::closure_ratio, true);
  multiply(arguments.factors, &Options::rng_factor, true);
  return all;
}

void run(const Arguments& arguments) {
  const dataset::VectorSet data = dataset::load(arguments.data);
  dataset::LoadOptions some;
  some.first_row = arguments.first_query;
  if (arguments.query_count > 0) some.max_rows = arguments.query_count;
  const dataset::VectorSet queries = dataset::load(arguments.queries, some);
  const dataset::GroundTruth truth = dataset::read_groundtruth(arguments.truth);
  for (const cluster::ClusteringOptions& options : combinations(arguments)) {
    cluster::ClusteringStats stats;
    const cluster::Clustering clustering =
        cluster::build_clusters(data.view(), Metric::l2, options, &stats);
    const Curves curves = measure(arguments, clustering, queries.view(), truth);
    print(arguments, options, stats, curves, data.count());
  }
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments arguments;
  farvec::CommandLine app("Recall against clusters probed, for every combination of the lists");
  app.add_option("--data", arguments.data).required();
  app.add_option("--queries", arguments.queries).required();
  app.add_option("--truth", arguments.truth, "k >= 10, with distances").required();
  app.add_option("--first-query", arguments.first_query);
  app.add_option("--query-count", arguments.query_count, "0: all");
  app.add_option("--clusters", arguments.clusters).comma_separated();
  app.add_option("--replicas", arguments.replicas).comma_separated();
  app.add_option("--ratio", arguments.ratios).comma_separated();
  app.add_option("--rng", arguments.factors).comma_separated();
  app.add_option("--balance", arguments.balances).comma_separated();
  app.add_option("--refinements", arguments.refinements).comma_separated();
  app.add_option("--recall", arguments.targets).comma_separated();
  app.add_option("--sample", arguments.sample);
  app.add_option("--max-probe", arguments.max_probe);
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(arguments); });
}
